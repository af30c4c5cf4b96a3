import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resultOf } from '../../support/processes/run-program.ts';
import { type RawServer, startRawServer } from '../../support/servers/raw-server.ts';

interface Report {
  readonly native: Record<string, boolean>;
  readonly looks: { name: string; length: number; mark: string; mock: boolean };
  /** What the fetch below ours was called with. */
  readonly traced: unknown[];
}

interface Sent extends Report {
  /** The bytes of each step, as they came over the wire. */
  readonly bytes: Record<string, string | undefined>;
}

let server: RawServer;
let otherServer: RawServer;
let absent: Sent;
let outside: Sent;
let inside: Sent;

async function send(mode: string): Promise<Sent> {
  const input = { mode, port: server.port, otherPort: otherServer.port };
  const report = await resultOf<Report>('loading/send-plain', input);
  const here = server.take();
  const there = otherServer.take();
  const names = Object.keys(report.native);
  const bytes = names.map((name) => {
    const from = name.endsWith('to another host') ? there : here;
    return [name, from.shift()] as const;
  });
  expect([...here, ...there], `left over ${mode}`).toEqual([]);
  return { ...report, bytes: Object.fromEntries(bytes) };
}

beforeAll(async () => {
  server = await startRawServer();
  otherServer = await startRawServer();
  absent = await send('absent');
  outside = await send('outside');
  inside = await send('inside');
});
afterAll(() => Promise.all([server.close(), otherServer.close()]));

const steps = [
  'GET alone',
  'GET with undefined',
  'POST with a third argument',
  'POST chat with a third argument to another host',
  'POST a message to a chat service',
  'POST files',
  'POST batches',
  'GET models',
  'GET chat completions',
  'DELETE chat completion',
  'POST chat to another host',
  'POST chat with headers out of an iterator to another host',
  'POST chat by a Request to another host',
  'POST a stream to another path',
  'POST chat realtime',
  'POST chat realtime by a Request',
  'POST chat with the header',
  'POST chat with the header in a list',
  'POST chat with the header in a Request',
  'SDK models',
  'SDK files',
  'SDK batches',
  'SDK chat with the header',
];

describe('what is not captured is sent byte for byte as without batchling', () => {
  it('compares every request that the program sends', () => {
    expect(Object.keys(absent.bytes)).toEqual(steps);
    expect(absent.bytes['POST files']).toContain('\r\nX-Zulu: 1\r\n');
  });

  it.each(steps)('%s, outside a scope', (step) => {
    expect(outside.bytes[step]).toBeDefined();
    expect(outside.bytes[step]).toBe(absent.bytes[step]);
  });

  it.each(steps)('%s, inside a scope', (step) => {
    expect(inside.bytes[step]).toBeDefined();
    expect(inside.bytes[step]).toBe(absent.bytes[step]);
  });
});

it('hands on the native Response of what is not captured', () => {
  const all = Object.fromEntries(steps.map((step) => [step, true]));
  expect(absent.native).toEqual(all);
  expect(outside.native).toEqual(all);
  expect(inside.native).toEqual(all);
});

it('leaves fetch with its name, its length and the marks of who wrapped it before', () => {
  expect(absent.looks).toEqual({ name: 'fetch', length: 0, mark: 'traced', mock: true });
  expect(outside.looks).toEqual(absent.looks);
  expect(inside.looks).toEqual(absent.looks);
});

it('calls the fetch below with the same arguments, as many as there were', () => {
  expect(absent.traced.slice(0, 3)).toEqual([
    { self: 'undefined', values: ['string'] },
    { self: 'undefined', values: ['string', 'undefined'] },
    { self: 'object', values: ['string', 'object', 'object'] },
  ]);
  expect(outside.traced).toEqual(absent.traced);
  // Of a `Request` with our header, the headers have to be replaced.
  const changed = steps.indexOf('POST chat with the header in a Request');
  expect(inside.traced.toSpliced(changed, 1)).toEqual(absent.traced.toSpliced(changed, 1));
});
