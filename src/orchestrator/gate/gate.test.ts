import { beforeEach, describe, expect, it } from 'vitest';
import { OpenAIBatcher } from '../../batchers/openai/openai-batcher.ts';
import { type EngineParts, engineParts } from '../engine-parts.test-helper.ts';
import { verdictOf } from './canary-verdict.ts';
import { errorWords } from './error-words.ts';
import { Gate, type GateState } from './gate.ts';
import { kindOf } from './kind.ts';

const answer = (status: number, type?: string) => ({
  status,
  headers: {},
  body: JSON.stringify(type === undefined ? {} : { error: { type, message: `It is ${type}.` } }),
});

describe('a gate', () => {
  let parts: EngineParts;
  beforeEach(async () => {
    parts = await engineParts();
  });

  const closed: GateState = { is: 'closed', pilot: undefined };
  const open: GateState = { is: 'open' };
  const refused: GateState = { is: 'refused', answer: answer(400) };

  it.each<[string, GateState, readonly GateState[]]>([
    ['closed', closed, [closed, open, refused]],
    ['open', open, [closed]],
    ['refused', refused, []],
  ])('that is %s goes where its table says, and nowhere else', (_name, from, allowed) => {
    for (const to of [closed, open, refused]) {
      const gate = new Gate();
      if (from !== closed) gate.moveTo(from);
      const move = () => gate.moveTo(to);
      if (allowed.includes(to)) expect(move).not.toThrow();
      else expect(move).toThrow(/cannot go from/);
    }
  });

  it('sends the first request that is still wanted ahead, and lets go only those that are', async () => {
    const [first, second, third, fourth] = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) => parts.request(name)),
    );
    const gate = new Gate();
    for (const request of [first, second, third, fourth]) gate.hold(request!);
    first!.settle(first!.callers[0]!);
    third!.settle(third!.callers[0]!);
    expect(gate.nextPilot()).toBe(second);
    expect(gate.isPilot(second!)).toBe(true);
    expect(gate.release()).toEqual([fourth]);
    expect(gate.release()).toEqual([]);
    expect(gate.nextPilot()).toBeUndefined();
  });
});

describe('the outcome of a canary', () => {
  it.each([
    [200, undefined, 'goes on'],
    [408, 'timeout', 'goes on'],
    [409, 'conflict', 'goes on'],
    [429, 'rate_limit_error', 'goes on'],
    [500, 'server_error', 'goes on'],
    [529, 'overloaded_error', 'goes on'],
    [502, 'batchling_missing', 'goes on'],
    [402, 'batchling_budget', 'goes on'],
    [504, 'batchling_deadline', 'goes on'],
    [499, 'batchling_cancelled', 'says nothing'],
    [413, 'batchling_too_large', 'says nothing'],
    [400, 'invalid_request_error', 'stops'],
    [401, 'authentication_error', 'stops'],
    [403, 'permission_error', 'stops'],
    [404, 'not_found_error', 'stops'],
    [413, 'request_too_large', 'says nothing'],
    [422, undefined, 'stops'],
  ])('%s %s: its kind %s', (status, type, verdict) => {
    expect(verdictOf(answer(status, type))).toBe(verdict);
  });

  it('that is missing says nothing', () => {
    expect(verdictOf(undefined)).toBe('says nothing');
  });
});

describe('a kind', () => {
  const batcher = new OpenAIBatcher();
  const kind = (body: object) => kindOf(batcher, 'm', JSON.stringify(body));
  const schema = (name: string, type: string) => ({
    response_format: { type: 'json_schema', json_schema: { name, schema: { type } } },
  });

  it('is the same for the same fields in another order, whatever they hold', () => {
    expect(kind({ a: 1, b: { c: 2 } }).key).toBe(kind({ b: 'x', a: [] }).key);
    expect(kind({ a: 1 }).key).not.toBe(kind({ a: 1, b: 1 }).key);
  });

  it('is another one for another schema, or other tools', () => {
    expect(kind(schema('A', 'object')).key).not.toBe(kind(schema('A', 'array')).key);
    expect(kind({ tools: [{ name: 'a' }] }).key).not.toBe(kind({ tools: [{ name: 'b' }] }).key);
    expect(kind({ text: { format: { name: 'A' } } }).key).not.toBe(
      kind({ text: { format: { name: 'B' } } }).key,
    );
  });

  it.each([
    [{}, 'm'],
    [schema('Invoice', 'object'), 'm (schema Invoice)'],
    [{ text: { format: { name: 'Answer' } } }, 'm (schema Answer)'],
    [{ tools: [{ function: { name: 'look' } }, { name: 'find' }] }, 'm (tool look and 1 more)'],
    [{ ...schema('A', 'object'), tools: [{ type: 'web_search' }] }, 'm (schema A, tools)'],
  ])('of %j is called %s', (body, label) => {
    expect(kind(body).label).toBe(label);
  });

  it('of what is no JSON is one kind', () => {
    expect(kindOf(batcher, 'm', 'no JSON').key).toBe(kindOf(batcher, 'm', '[1').key);
  });
});

it.each([
  ['{"error":{"message":"The schema\\nis bad."}}', 'The schema is bad'],
  ['[{"error":{"message":"of a list"}}]', 'of a list'],
  ['{"message":"at the top"}', 'at the top'],
  ['{"error":"a text"}', 'a text'],
  ['{"detail":"not found"}', 'not found'],
  ['<html>no JSON</html>', '<html>no JSON</html>'],
])('the words of %s are %s', (body, words) => {
  expect(errorWords({ status: 400, headers: {}, body })).toBe(words);
});
