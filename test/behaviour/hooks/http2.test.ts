import http2, { type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { watchCall } from '../../support/is-told.ts';
import { post, read } from '../../support/servers/http2-server.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const patient = { window: '1h', maxWindow: '1h' } as const;

function connect(): ClientHttp2Session {
  // The simulator speaks HTTP/1.1 only: a connection to it would be an error.
  return http2.connect(stage.simulator.url);
}

describe('node:http2 in a scope', () => {
  it('is batched: every stream of a session, and every session, has its own answer', async () => {
    const seen = await batchify(async () => {
      const shared = connect();
      const sessions = [shared, shared, connect()];
      const replies = await Promise.all(
        sessions.map((session, index) => read(post(session, `prompt ${index}`))),
      );
      for (const session of sessions) session.close();
      return replies;
    }, stage.options());
    expect(seen.map(({ status, source }) => [status, source])).toEqual(
      Array(3).fill([200, 'batch']),
    );
    seen.forEach(({ text }, index) => {
      expect(JSON.parse(text).choices[0].message.content).toContain(`prompt ${index}`);
    });
    expect(stage.simulator.batches()).toHaveLength(1);
  });

  it('whose session is closed after the answer ends it as a native one does', async () => {
    await batchify(async () => {
      const session = connect();
      const stream = post(session, 'one');
      const told: string[] = [];
      for (const name of ['end', 'close']) stream.on(name, () => void told.push(name));
      session.on('close', () => void told.push('session'));
      await read(stream);
      session.close();
      await until(() => told.length === 3);
      expect(told).toEqual(['end', 'close', 'session']);
      expect([session.closed, session.destroyed]).toEqual([true, true]);
      expect(() => session.request({})).toThrow(
        expect.objectContaining({ code: 'ERR_HTTP2_INVALID_SESSION' }),
      );
    }, stage.options());
  });

  it.each<[string, (session: ClientHttp2Session, stream: ClientHttp2Stream) => unknown]>([
    ['its stream is closed', (_session, stream) => stream.close(8)],
    ['its stream is destroyed', (_session, stream) => stream.destroy()],
    ['its session is destroyed', (session) => session.destroy()],
  ])('ends its call when %s', async (_how, end) => {
    const scope = batchify(stage.options(patient));
    await scope.run(async () => {
      const session = connect();
      const stream = post(session, 'never mind');
      const closed = new Promise((resolve) => stream.once('close', resolve));
      await until(() => scope.stats.captured === 1);
      end(session, stream);
      await closed;
    });
    await scope.close();
    expect(stage.simulator.batches()).toHaveLength(0);
  });

  it.each([
    [8, ['end', 'close']],
    [2, ['ERR_HTTP2_STREAM_ERROR', 'close']],
  ])('says that a stream is closed with code %d as a native one does', async (code, expected) => {
    const scope = batchify(stage.options(patient));
    const told: string[] = [];
    await scope.run(async () => {
      const stream = post(connect(), 'never mind').resume();
      for (const name of ['end', 'close']) stream.on(name, () => void told.push(name));
      stream.on('error', (error: Error & { code?: string }) => void told.push(String(error.code)));
      await until(() => scope.stats.captured === 1);
      stream.close(code);
      await until(() => told.includes('close'));
      expect(stream.rstCode).toBe(code);
    });
    await scope.close();
    expect(told).toEqual(expected);
  });

  it.each<[string, (patience: number) => { signal: AbortSignal; abort(): void }]>([
    [
      'is aborted',
      () => {
        const controller = new AbortController();
        return { signal: controller.signal, abort: () => controller.abort() };
      },
    ],
    [
      'times out',
      (patience) => ({ signal: AbortSignal.timeout(patience), abort: () => undefined }),
    ],
  ])('ends its call when the signal of its options %s', async (_how, given) => {
    const scope = batchify(stage.options(patient));
    const error = await scope.run(async () => {
      const session = connect();
      // On a busy machine a timeout may strike before the engine is open. Such a call is never captured.
      for (let patience = 200; ; patience *= 2) {
        const { signal, abort } = given(patience);
        const failure = new Promise((resolve) =>
          post(session, 'never mind', {}, { signal }).once('error', resolve),
        );
        const watched = watchCall(failure);
        await until(() => watched.isTold || scope.stats.captured === 1);
        if (scope.stats.captured === 0) continue;
        abort();
        return failure;
      }
    });
    await scope.close();
    expect(error).toMatchObject({ name: 'AbortError', code: 'ABORT_ERR' });
    expect(scope.stats).toMatchObject({ captured: 1, answered: 0 });
  });
});
