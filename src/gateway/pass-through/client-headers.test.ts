import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { AnthropicBatcher } from '../../batchers/anthropic/anthropic-batcher.ts';
import { OpenAIBatcher } from '../../batchers/openai/openai-batcher.ts';
import { HeaderReader } from './client-headers.ts';

const { info } = new OpenAIBatcher();
const usual = { Authorization: 'Bearer sk-1', 'Content-Length': '10', 'x-batchling-window': '1s' };

/** As `node:http` shows a request with these headers. */
function requestWith(headers: Record<string, string>): IncomingMessage {
  const pairs = Object.entries(headers);
  const byName = pairs.map(([name, value]) => [name.toLowerCase(), value]);
  const request = { headers: Object.fromEntries(byName), rawHeaders: pairs.flat() };
  return request as unknown as IncomingMessage;
}

it('reads the headers that a client sends with each of its calls once', () => {
  const reader = new HeaderReader();
  const first = reader.read(requestWith(usual), info, undefined);
  expect(first.forwarded).toEqual({ authorization: 'Bearer sk-1' });
  expect(first.asked.options).toEqual({ window: '1s' });
  const longer = requestWith({ ...usual, 'Content-Length': '11' });
  expect(reader.read(longer, info, undefined)).toBe(first);
});

it('tells apart what differs in anything but the length of the body', () => {
  const reader = new HeaderReader();
  const read = (headers: object, of = info) =>
    reader.read(requestWith({ ...usual, ...headers }), of, undefined);
  const all = [
    read({}),
    read({ Authorization: 'Bearer sk-2' }),
    read({ 'x-batchling-window': '2s' }),
    read({ 'x-stainless-retry-count': '1' }),
    read({}, new AnthropicBatcher().info),
  ];
  expect(new Set(all).size).toBe(all.length);
  expect(all.map(({ asked }) => asked.sampling.again)).toEqual([false, false, false, true, false]);
});

it('forgets headers beyond a number, and keeps no long ones', () => {
  const reader = new HeaderReader();
  const read = (id: string) => reader.read(requestWith({ ...usual, id }), info, undefined);
  const first = read('0');
  expect(read('0')).toBe(first);
  for (let index = 1; index <= 1_000; index += 1) read(String(index));
  expect(read('0')).not.toBe(first);
  expect(read('x'.repeat(5_000))).not.toBe(read('x'.repeat(5_000)));
});
