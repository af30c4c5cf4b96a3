import http2 from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { batchify, realtime } from '../../../src/index.ts';
import { chatPath, post, read, startServer } from '../../support/servers/http2-server.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

describe('requests of node:http2 in a scope that are not captured', () => {
  it('sends a request that has no body on to its server, which answers it', async () => {
    const server = await startServer((path, body) => `${path} ${body.length}`);
    const hosts = { [`${server.origin}/openai/v1`]: 'openai' } as const;
    const texts = await batchify(async () => {
      const session = http2.connect(server.origin);
      const post = { ':method': 'POST', ':path': chatPath, 'content-type': 'application/json' };
      const ended = await read(session.request(post, { endStream: true }));
      const asked = await read(session.request({ ':method': 'GET', ':path': chatPath }));
      session.close();
      return [ended.text, asked.text];
    }, stage.options({ hosts }));
    expect(texts).toEqual(Array(2).fill(`${chatPath} 0`));
    await server.close();
  });

  it('lets out what is marked, over one connection that is opened then', async () => {
    const server = await startServer((path, body) => `${path} ${body.length}`);
    await batchify(
      async () => {
        const session = http2.connect(server.origin);
        expect(server.connections()).toBe(0);
        const off = await read(post(session, 'off', { 'x-batchling': 'off' }));
        const marked = await realtime(() => read(post(session, 'realtime')));
        const other = session.request({ ':path': '/health' });
        expect((await read(other)).text).toBe('/health 0');
        expect([off, marked]).toMatchObject([{ status: 200 }, { status: 200 }]);
        expect(off.source).toBeUndefined();
        session.close();
      },
      stage.options({ hosts: { [`${server.origin}/openai/v1`]: 'openai' } }),
    );
    expect(server.connections()).toBe(1);
    await server.close();
  });

  it('is native for a client with a connection of its own, which it gives up with that', async () => {
    const server = await startServer(() => 'native');
    const names = await batchify(
      async () => {
        const session = http2.connect(server.origin, {
          createConnection: ({ port }) => connectSocket(Number(port), '127.0.0.1'),
        });
        const { text } = await read(post(session, 'mine'));
        session.close();
        return [session.constructor.name, text];
      },
      stage.options({ hosts: { [`${server.origin}/openai/v1`]: 'openai' }, bypass: 'ignore' }),
    );
    expect(names).toEqual(['ClientHttp2Session', 'native']);
    await server.close();
  });

  it('reports a call to a host that no option names, over its native session', async () => {
    const server = await startServer((path, body) => `${path} ${body.length > 0}`);
    const scope = batchify(stage.options({ bypass: 'ignore' }));
    const reasons: string[] = [];
    scope.on('call:bypassed', ({ reason }) => void reasons.push(reason));
    const seen = await scope.run(async () => {
      const session = http2.connect(server.origin);
      const answers = [
        await read(post(session, 'one')),
        await read(post(session, 'meant', { 'x-batchling': 'off' })),
        await read(session.request({ ':path': '/health' })),
      ];
      session.close();
      return answers.map(({ text }) => text);
    });
    await scope.close();
    expect(seen).toEqual([`${chatPath} true`, `${chatPath} true`, '/health false']);
    expect(reasons).toEqual([expect.stringContaining('no option names')]);
    await server.close();
  });

  it('answers such a call itself where that is an error', async () => {
    const asked: string[] = [];
    const server = await startServer((path) => {
      asked.push(path);
      return 'native';
    });
    const seen = await batchify(
      async () => {
        const session = http2.connect(server.origin);
        const refused = await read(post(session, 'one'));
        const other = await read(session.request({ ':path': '/health' }));
        session.close();
        return [refused.status, refused.text, other.text];
      },
      stage.options({ bypass: 'error' }),
    );
    expect(seen).toEqual([400, expect.stringContaining('batchling_unsupported'), 'native']);
    expect(asked).toEqual(['/health']);
    await server.close();
  });

  it('has native sessions with hosts that are none of its business, and outside of scopes', async () => {
    const server = await startServer(() => 'native');
    const names = await batchify(async () => {
      const session = http2.connect(server.origin);
      const stream = session.request({ ':path': '/v1/chat/completions', ':method': 'POST' });
      const { text } = await read(stream.end('{}'));
      session.close();
      return [session.constructor.name, text];
    }, stage.options());
    expect(names).toEqual(['ClientHttp2Session', 'native']);
    const outside = http2.connect(server.origin);
    expect(outside.constructor.name).toBe('ClientHttp2Session');
    outside.close();
    await server.close();
  });
});
