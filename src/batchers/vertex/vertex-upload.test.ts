import { inspect } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { UnknownOutcomeError } from '../../base/errors.ts';
import { createHttpClient } from '../../http/client.ts';
import type { StreamedBody } from '../../http/wire.ts';
import { startSimulator } from '../../simulator/index.ts';
import { clock, failureOf } from '../conformance/subject.test-helper.ts';
import { objectUrl } from './vertex-storage.ts';
import { uploadObject } from './vertex-upload.ts';

const size = 256 * 1024;
const token = 'ya29.upload-51c09e77';
const object = { bucket: 'mine', name: 'a folder/ä b.jsonl' };
const path = '/upload/storage/v1/b/mine/o';

async function simulated() {
  const simulator = await startSimulator();
  const http = createHttpClient({ clock, idleTimeout: 5_000 });
  onTestFinished(async () => {
    await http.close();
    await simulator.close();
  });
  const base = `${simulator.baseUrl('vertex')}/v1`;
  const credentials = () => ({ headers: { authorization: `Bearer ${token}` } });
  return { simulator, wire: http.wire({ base, origins: [new URL(base).origin], credentials }) };
}

function fileOf(length: number, piece: number): Pick<StreamedBody, 'chunks'> {
  return {
    async *chunks() {
      for (let at = 0; at < length; at += piece) {
        yield Buffer.alloc(Math.min(piece, length - at), 'x');
      }
    },
  };
}

it.each([
  [1, 7, 0],
  [size, 100_000, 0],
  [size + 1, 100_000, 2],
  [3 * size, 3 * size, 3],
  [2 * size + 5, 1_000, 3],
])('%i bytes in pieces of %i make %i chunks of a session', async (length, piece, chunks) => {
  const { simulator, wire } = await simulated();
  await uploadObject(wire, object, fileOf(length, piece), size);
  expect(simulator.countRequests('POST', path)).toBe(1);
  expect(simulator.countRequests('PUT', path)).toBe(chunks);
  const stored = await wire.send({ method: 'GET', path: objectUrl(wire, object) });
  expect(await stored.json()).toMatchObject({ name: object.name, size: String(length) });
});

it.each([
  ['garbage', { kind: 'garbage' }],
  ['an end in the middle', { kind: 'status', status: 200, body: {} }],
  ['a lost answer', { kind: 'lost' }],
] as const)('is not believed after %s', async (_what, action) => {
  const { simulator, wire } = await simulated();
  simulator.faults.add({ method: 'PUT', path, action });
  const error = await failureOf(uploadObject(wire, object, fileOf(2 * size, size), size));
  expect(error).toBeInstanceOf(UnknownOutcomeError);
});

it.each([404, 410])('whose session is gone (%i) can begin again', async (status) => {
  const { simulator, wire } = await simulated();
  const body = { error: { code: status, message: 'The session is no longer there.' } };
  simulator.faults.add({ method: 'PUT', path, action: { kind: 'status', status, body } });
  const file = fileOf(2 * size, size);
  expect(await failureOf(uploadObject(wire, object, file, size))).toMatchObject({
    failure: { meaning: 'busy', next: 'later' },
  });
  await uploadObject(wire, object, file, size);
});

it('tells neither the token nor the address of a session', async () => {
  for (const method of ['POST', 'PUT']) {
    const { simulator, wire } = await simulated();
    const body = { error: { message: `You came with ${token}` } };
    simulator.faults.add({ method, path, action: { kind: 'status', status: 500, body } });
    const error = await failureOf(uploadObject(wire, object, fileOf(2 * size, size), size));
    const told = inspect(error, { depth: 10 });
    expect(told).toContain('You came with [redacted]');
    expect(told).not.toContain(token);
    expect(told).not.toContain('upload_id');
  }
});
