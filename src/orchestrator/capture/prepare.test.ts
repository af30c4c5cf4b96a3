import { describe, expect, it } from 'vitest';
import type { Call, FanOut, Match, Route } from '../../batchers/batcher.ts';
import { OpenAIBatcher } from '../../batchers/openai/openai-batcher.ts';
import { RegisteredBatcher } from '../../batchers/registry.ts';
import type { CapturedCall, EngineScope, Verdict } from '../model/call.ts';
import { prepare } from './prepare.ts';
import { Router, type Target } from './router.ts';

const day = 86_400_000;

class SingleBatcher extends OpenAIBatcher {
  readonly seen: Call[] = [];

  override match(call: Call): Match {
    this.seen.push(call);
    return super.match(call);
  }
}

/** Embeds one input in a line, so a call with many needs many. */
class ManyBatcher extends SingleBatcher {
  override match(call: Call): FanOut {
    const { input } = call.json;
    const parts = (input as string[]).map((text) =>
      super.match({ ...call, body: JSON.stringify({ model: 'm', input: text }) }),
    ) as Route[];
    return {
      parts,
      join: (answers) => ({ ...answers[0]!, body: answers.map(({ body }) => body).join() }),
    };
  }
}

class UnsetBatcher extends OpenAIBatcher {
  override match({ json }: Call): Match {
    const model = String(json.model);
    return { unconfigured: 'Say where it runs.', endpoint: '/v1/embeddings', model };
  }
}

async function captured(batcher: OpenAIBatcher, body: object, settings: object = {}) {
  const registered = new RegisteredBatcher(batcher.info, () => Promise.resolve(batcher));
  const target = new Router([registered], []).find(
    'https://api.openai.com/v1/embeddings',
  ) as Target;
  await target.load();
  const told: string[] = [];
  const verdicts: Verdict[] = [];
  const scope = {
    policy: { completionWindow: day },
    settings: () => settings,
    only: undefined,
    deadline: undefined,
    emit: (name: string) => told.push(name),
  } as unknown as EngineScope;
  const call = {
    scope,
    target,
    headers: { authorization: 'Bearer sk-1' },
    body: JSON.stringify(body),
    settle: (verdict: Verdict) => verdicts.push(verdict),
    settled: false,
  } as unknown as CapturedCall;
  return { call, told, verdicts };
}

describe('a call', () => {
  it('is one request, as a rule', async () => {
    const { call, told } = await captured(new SingleBatcher(), { model: 'm', input: 'a' });
    const prepared = prepare(call);
    expect(prepared?.parts.map(({ route }) => route.body)).toEqual(['{"model":"m","input":"a"}']);
    expect(prepared?.parts[0].key).toHaveLength(32);
    expect(prepared?.join).toBeUndefined();
    expect(told).toEqual(['call:captured']);
  });

  it('can be several requests with one joined answer', async () => {
    const { call, told } = await captured(new ManyBatcher(), {
      model: 'm',
      input: ['a', 'b', 'a'],
    });
    const prepared = prepare(call);
    const bodies = prepared?.parts.map(({ route }) => JSON.parse(route.body).input);
    expect(bodies).toEqual(['a', 'b', 'a']);
    const prints = prepared?.parts.map(({ key }) => key);
    expect(new Set(prints).size).toBe(2);
    const answers = ['1', '2', '3'].map((body) => ({ status: 200, headers: {}, body }));
    expect(prepared?.join?.(answers)).toMatchObject({ status: 200, body: '1,2,3' });
    expect(told).toEqual(['call:captured']);
  });

  it('that would be no request at all is answered with an error', async () => {
    const { call, verdicts } = await captured(new ManyBatcher(), { model: 'm', input: [] });
    expect(prepare(call)).toBeUndefined();
    expect(verdicts).toMatchObject([{ answer: { status: 400 } }]);
  });

  it('that lacks a setting is answered with what to set', async () => {
    const { call, verdicts, told } = await captured(new UnsetBatcher(), { model: 'm' });
    expect(prepare(call)).toBeUndefined();
    expect(verdicts).toMatchObject([{ answer: { status: 400 } }]);
    expect(JSON.stringify(verdicts)).toContain('Say where it runs.');
    expect(told).toEqual(['call:captured', 'call:answered']);
  });

  it('that lacks a setting and is not chosen is left out', async () => {
    const { call, verdicts } = await captured(new UnsetBatcher(), { model: 'm' });
    const asked: unknown[] = [];
    const only = (facts: unknown) => asked.push(facts) === 0;
    const scope = { ...call.scope, only } as unknown as EngineScope;
    expect(prepare({ ...call, scope })).toBeUndefined();
    expect(verdicts).toEqual([{ leftOut: 'openai:m' }]);
    const url = 'https://api.openai.com/v1/embeddings';
    expect(asked).toEqual([{ provider: 'openai', endpoint: '/v1/embeddings', model: 'm', url }]);
  });

  it('is matched with the settings of its provider', async () => {
    const batcher = new SingleBatcher();
    const settings = { region: 'eu' };
    prepare((await captured(batcher, { model: 'm', input: 'a' }, settings)).call);
    expect(batcher.seen[0]?.settings).toBe(settings);
  });
});
