import { expect, it } from 'vitest';
import { limitsOf } from './limit-settings.ts';
import { OpenAIBatcher } from './openai/openai-batcher.ts';

const batcher = new OpenAIBatcher();
const route = { endpoint: '/v1/chat/completions', model: 'gpt-5-mini' };
const shareOf = (priceShare: unknown) =>
  limitsOf(batcher, route, { priceShare }).windows['24h']?.priceShare;

it('what the user does not say is as the batcher says', () => {
  expect(limitsOf(batcher, route, {})).toEqual(batcher.limits(route));
});

it('limits that the user knows better replace those of the batcher, one by one', () => {
  const limits = { requests: 7, bytes: 8, requestBytes: 9, tokens: 10, inFlight: 11 };
  const changed = { items: 7, bytes: 8, itemBytes: 9, tokens: 10, inFlight: 11 };
  expect(limitsOf(batcher, route, { limits })).toEqual({ ...batcher.limits(route), ...changed });
});

it.each([
  [0.4, 0.4],
  [{ 'gpt-5-mini': 0.3 }, 0.3],
  [{ 'gpt-4*': 0.2, 'gpt-*': 1 }, 1],
  [{ 'o*': 0.2 }, 0.5],
])('with the price share %j a batch costs %d of the list price', (given, share) => {
  expect(shareOf(given)).toBe(share);
});
