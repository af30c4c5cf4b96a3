import { describe, expect, it } from 'vitest';
import type { Dict } from '../../base/types.ts';
import {
  all,
  type BatcherSubject,
  callOf,
  openBench,
  planOf,
  routeOf,
} from '../conformance/subject.test-helper.ts';
import { AnthropicBatcher } from './anthropic-batcher.ts';

const subject: BatcherSubject = {
  batcher: new AnthropicBatcher(),
  path: '/messages',
  body: (content) => ({ model: 'claude-test', max_tokens: 64, messages: [{ content }] }),
  requests: { create: '/v1/messages/batches', results: /\/results$/ },
};

const matched = (change: object) =>
  subject.batcher.match(callOf(subject, JSON.stringify({ ...subject.body('one'), ...change })));

describe('a call that Anthropic refuses inside a batch', () => {
  it.each([
    [{ speed: 'fast' }, '`speed` is refused inside a batch'],
    [{ speed: null }, '`speed` is refused inside a batch'],
    [{ fallbacks: [{ model: 'b' }, { model: 'c', speed: 'fast' }] }, '`speed` of a fallback is'],
    [{ max_tokens: 0 }, '`max_tokens: 0` is refused inside a batch'],
    [{ thread: { type: 'create' } }, 'a `thread` is refused inside a batch'],
    [{ thread: { type: 'continue', previous_message_id: 'msg_1' } }, 'a `thread` is refused'],
    [{ model: undefined }, 'the body names no model'],
  ])('for %j goes out by itself and says why', (change, reason) => {
    expect(matched(change)).toEqual({ bypass: expect.stringContaining(reason) });
  });

  it.each([
    { fallbacks: 'default' },
    { fallbacks: [{ model: 'b' }] },
    { max_tokens: 1 },
    { service_tier: 'auto' },
  ])('is not one with %j', (change) => {
    expect(matched(change)).not.toHaveProperty('bypass');
  });
});

it('a batch stays below the limits, whatever a megabyte is', () => {
  const { items, bytes, itemBytes } = subject.batcher.limits({ endpoint: '', model: '' });
  expect(items).toBe(100_000);
  expect(Math.max(bytes, itemBytes) + subject.batcher.frameBytes(items)).toBeLessThan(256_000_000);
});

describe('the headers of a batch', () => {
  const headersWith = (headers: Dict) =>
    routeOf({ ...subject, headers }, JSON.stringify(subject.body('one'))).batchHeaders;

  it('are the version, and the betas as a sorted set', () => {
    expect(headersWith({ 'anthropic-version': '2026-10-21', 'anthropic-beta': 'b, a,b' })).toEqual({
      'anthropic-version': '2026-10-21',
      'anthropic-beta': 'a,b',
    });
    expect(headersWith({ 'x-stainless-os': 'Linux' })).toEqual({
      'anthropic-version': '2023-06-01',
    });
  });
});

describe('the results of a batch', () => {
  async function readVersions(headers: Dict): Promise<unknown[]> {
    const { batcher, wire, simulator, ended, rows } = await openBench(subject);
    const plan = planOf({ ...subject, headers }, ['one']);
    const handle = await batcher.stage(wire, plan);
    const remote = await batcher.create(wire, plan, handle);
    await rows(await ended(remote, plan, handle));
    const found = await batcher.find(wire, plan, handle);
    if (found.kind !== 'candidates') throw new Error('not found');
    for (const candidate of found.remotes) await all(batcher.results(wire, candidate));
    return simulator.requests
      .filter(({ path }) => path.endsWith('/results'))
      .map((request) => request.headers['anthropic-version']);
  }

  it.each(['2023-06-01', '2026-10-21'])('are read under its version, %s', async (version) => {
    expect(await readVersions({ 'anthropic-version': version })).toEqual([version, version]);
  });
});
