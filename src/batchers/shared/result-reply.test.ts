import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  apiKey,
  type BatcherSubject,
  failureOf,
  idOf,
  openBench,
} from '../conformance/subject.test-helper.ts';
import { OpenAIBatcher } from '../openai/openai-batcher.ts';
import { TogetherBatcher } from '../together/together-batcher.ts';

const subjects = [new OpenAIBatcher(), new TogetherBatcher()].map(
  (batcher): BatcherSubject => ({
    batcher,
    path: '/chat/completions',
    body: (content) => ({ model: 'm', messages: [{ role: 'user', content }] }),
    requests: { create: '/v1/batches', upload: '/v1/files', results: /\/content$/ },
  }),
);

/** A storage service with one file of results. */
async function startStorage(status = 200) {
  const seen: IncomingHttpHeaders[] = [];
  const response = { status_code: 200, body: { id: 'from-storage' } };
  const line = JSON.stringify({ custom_id: idOf('one'), response });
  const server = createServer((request, reply) => {
    seen.push(request.headers);
    const body = status === 200 ? `${line}\n` : `<Error>${request.url}</Error>`;
    reply.writeHead(status, { 'content-length': Buffer.byteLength(body) }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/place-of-results?X-Amz-Signature=0123456789abcdef`;
  return { url, seen };
}

describe.each(subjects)('results of $batcher.info.name', (subject) => {
  async function endedBatch() {
    const bench = await openBench(subject);
    const { plan, handle, remote } = await bench.send(['one']);
    return { ...bench, last: await bench.ended(remote, plan, handle) };
  }

  it.each(['redirected to', 'named by'])(
    'that are %s a signed URL are read there, without the key',
    async (how) => {
      const { url, seen } = await startStorage();
      const { last, rows, strike } = await endedBatch();
      const headers = { location: url };
      if (how === 'redirected to')
        strike('results', { kind: 'status', status: 302, body: '', headers });
      const remote = how === 'named by' ? { ...last, sources: { output: url } } : last;
      expect(await rows(remote)).toMatchObject([
        { id: idOf('one'), outcome: { answer: { body: '{"id":"from-storage"}' } } },
      ]);
      expect(seen).toHaveLength(1);
      expect(seen[0]).not.toHaveProperty('authorization');
      expect(JSON.stringify(seen)).not.toContain(apiKey);
    },
  );

  it.each([
    [403, 'busy'],
    [404, 'gone'],
    [500, 'busy'],
  ])(
    'whose storage answers %i are asked for again, and the URL is shown to nobody',
    async (status, meaning) => {
      const { url } = await startStorage(status);
      const { last, rows, strike } = await endedBatch();
      strike('results', { kind: 'status', status: 307, body: '', headers: { location: url } });
      const error = await failureOf(rows(last));
      expect(error).toMatchObject({ status, failure: { meaning, next: 'later' } });
      expect(inspect(error, { depth: 10 })).not.toMatch(/place-of-results|0123456789abcdef/);
    },
  );

  it('that are redirected to nowhere are an error', async () => {
    const { last, rows, strike } = await endedBatch();
    strike('results', { kind: 'status', status: 302, body: '', headers: { location: 'http://' } });
    expect(await failureOf(rows(last))).toMatchObject({ status: 302 });
  });
});
