import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { BatchlingError, UnknownOutcomeError } from '../../base/errors.ts';
import { createHttpClient } from '../../http/client.ts';
import type { StreamedBody, Wire } from '../../http/wire.ts';
import { startSimulator } from '../../simulator/index.ts';
import { clock, failureOf } from '../conformance/subject.test-helper.ts';
import { uploadFile } from './google-upload.ts';

const size = 256 * 1024;
const key = 'AIza-upload-51c09e77';

function wireTo(base: string): Wire {
  const http = createHttpClient({ clock, idleTimeout: 5_000 });
  onTestFinished(() => http.close());
  const credentials = () => ({ headers: { 'x-goog-api-key': key } });
  return http.wire({ base, origins: [new URL(base).origin], credentials });
}

async function simulated() {
  const simulator = await startSimulator();
  onTestFinished(() => simulator.close());
  const wire = wireTo(`${simulator.baseUrl('google')}/v1beta`);
  return { simulator, wire };
}

/** A file whose pieces have nothing to do with the chunks of an upload. */
function fileOf(length: number, piece: number): StreamedBody {
  return {
    length,
    async *chunks() {
      for (let at = 0; at < length; at += piece) {
        yield Buffer.alloc(Math.min(piece, length - at), 'x');
      }
    },
  };
}

it.each([
  [1, 7, 1],
  [size - 1, 100_000, 1],
  [size, 100_000, 1],
  [size + 1, 100_000, 2],
  [3 * size + 5, 3 * size, 4],
  [2 * size, 1_000, 2],
])('%i bytes in pieces of %i make %i chunks', async (length, piece, chunks) => {
  const { simulator, wire } = await simulated();
  const name = await uploadFile(wire, 'input', fileOf(length, piece), size);
  expect(simulator.countRequests('POST', '/upload/v1beta/files')).toBe(1 + chunks);
  const stored = await wire.send({ method: 'GET', path: `/${name}` });
  expect(await stored.json()).toMatchObject({ name, sizeBytes: String(length) });
});

it.each([404, 410])('whose session is gone (%i) can begin again', async (status) => {
  const { simulator, wire } = await simulated();
  const body = { error: { code: status, message: 'The session is no longer there.' } };
  const action = { kind: 'status', status, body } as const;
  simulator.faults.add({ path: '/upload/v1beta/files', skip: 1, action });
  const file = fileOf(2 * size, size);
  expect(await failureOf(uploadFile(wire, 'input', file, size))).toMatchObject({
    failure: { meaning: 'busy', next: 'later' },
  });
  await uploadFile(wire, 'input', file, size);
});

it('holds one chunk at a time', async () => {
  const { wire } = await simulated();
  let made = 0;
  let ahead = 0;
  let sent = 0;
  const file = fileOf(8 * size, 10_000);
  const watched: StreamedBody = {
    length: file.length,
    async *chunks() {
      for await (const piece of file.chunks()) {
        made += piece.length;
        ahead = Math.max(ahead, made - sent);
        yield piece;
      }
    },
  };
  const counting: Wire = {
    ...wire,
    send: async (request) => {
      const reply = await wire.send(request);
      if (typeof request.body === 'object' && 'length' in request.body) sent += request.body.length;
      return reply;
    },
  };
  await uploadFile(counting, 'input', watched, size);
  expect(ahead).toBeLessThanOrEqual(size + 10_000);
});

it.each([
  ['garbage', { kind: 'garbage' }],
  ['no status of the upload', { kind: 'status', status: 200, body: {} }],
  ['a lost answer', { kind: 'lost' }],
] as const)('is not believed after %s', async (_what, action) => {
  const { simulator, wire } = await simulated();
  simulator.faults.add({ path: '/upload/v1beta/files', skip: 1, action });
  const error = await failureOf(uploadFile(wire, 'input', fileOf(2 * size, 1_000), size));
  expect(error).toBeInstanceOf(UnknownOutcomeError);
});

it('tells neither the key nor the address of the upload', async () => {
  const { simulator, wire } = await simulated();
  const echo = { error: { message: `You came from ${key}`, status: 'INTERNAL' } };
  for (const skip of [0, 1]) {
    simulator.faults.clear();
    const action = { kind: 'status', status: 500, body: echo } as const;
    simulator.faults.add({ path: '/upload/v1beta/files', skip, action });
    const error = await failureOf(uploadFile(wire, 'input', fileOf(10, 10), size));
    const told = inspect(error, { depth: 10 });
    expect(told).toContain('You came from [redacted]');
    expect(told).not.toContain(key);
    expect(told).not.toContain('upload_id');
  }
});

/** A gateway that names a place for the bytes, and says there only where that is. */
async function gatewayTo(url: (own: string) => string) {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    const own = `http://${request.headers.host}`;
    seen.push(String(request.headers['x-goog-api-key']));
    request.resume().on('end', () => {
      if (request.headers['x-goog-upload-command'] === 'start') {
        response.writeHead(200, { 'x-goog-upload-url': url(own) }).end();
      } else {
        response
          .writeHead(400)
          .end(JSON.stringify({ error: { message: `At ${own}${request.url}` } }));
      }
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

it('sends no key to an address of another origin', async () => {
  const foreign = await gatewayTo(() => '');
  const gateway = await gatewayTo(() => `${foreign.url}/upload?upload_id=a-secret-id`);
  const wire = wireTo(`${gateway.url}/v1beta`);
  const error = await failureOf(uploadFile(wire, 'input', fileOf(10, 10), size));
  // Without https nothing is sent there at all.
  expect(error).toBeInstanceOf(BatchlingError);
  expect(error).toMatchObject({ code: 'FOREIGN_ORIGIN' });
  expect(inspect(error, { depth: 10 })).not.toContain('a-secret-id');
  expect(gateway.seen).toEqual([key]);
  expect(foreign.seen).toEqual([]);
});

it('keeps the address of an upload for itself, although it is echoed', async () => {
  const gateway = await gatewayTo((own) => `${own}/session/upload?upload_id=a-secret-id`);
  const wire = wireTo(`${gateway.url}/v1beta`);
  const error = await failureOf(uploadFile(wire, 'input', fileOf(10, 10), size));
  const told = inspect(error, { depth: 10 });
  expect(told).toContain('At [redacted]');
  expect(told).not.toContain('a-secret-id');
  expect(told).not.toContain('session');
  expect(gateway.seen).toEqual([key, key]);
});

it('is not begun where nobody says where the bytes go', async () => {
  const gateway = await gatewayTo(() => 'nowhere');
  const wire = wireTo(`${gateway.url}/v1beta`);
  const error = await failureOf(uploadFile(wire, 'input', fileOf(10, 10), size));
  expect(error).toBeInstanceOf(UnknownOutcomeError);
});
