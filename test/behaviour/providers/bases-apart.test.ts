import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BatchifyOptions, batchify, type Clock } from '../../../src/index.ts';
import { type Simulator, startSimulator } from '../../../src/simulator/index.ts';
import { ask, askClaude } from '../../support/ask.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon, until } from '../../support/until.ts';

type Provider = 'openai' | 'anthropic';

/** A base in trouble, beside the stage's own. */
let troubled: Simulator;
let stage: Stage;
let leave: () => void;

beforeEach(async () => {
  stage = await openStage();
  troubled = await startSimulator();
});
afterEach(async () => {
  leave();
  await troubled.close();
  await stage.close();
});

/** Nothing gets better by waiting: what is longer than a second never ends. */
const clock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, delay) => (delay < 1_000 ? setTimeout(callback, delay).unref() : {}),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

/** One key, one model, two bases: as with local servers, whose key is a dummy. */
function openScope(provider: Provider, given: BatchifyOptions = {}) {
  const controller = new AbortController();
  leave = () => controller.abort(new Error('seen enough'));
  const hosts = { ...stage.hosts, [troubled.baseUrl(provider)]: provider } as const;
  const scope = batchify(stage.options({ hosts, clock, signal: controller.signal, ...given }));
  const askAt = (simulator: Simulator) => {
    const client = { baseURL: simulator.baseUrl(provider), maxRetries: 0 };
    return scope.run(() =>
      provider === 'openai'
        ? ask(stage.openai(client), 'hello')
        : askClaude(stage.anthropic(client), 'hello'),
    );
  };
  return {
    askInTrouble: () => {
      askAt(troubled).catch(() => undefined);
    },
    askElsewhere: () => soon(askAt(stage.simulator)),
  };
}

describe('a base in trouble does not delay another with the same key and model', () => {
  it('when there is no room for its tokens', async () => {
    troubled.configure({ limits: { openai: { enqueuedTokens: 1 } } });
    const scope = openScope('openai');
    scope.askInTrouble();
    await until(() => troubled.batches().some(({ ending }) => ending === 'failed'), 'a refusal');
    expect(await scope.askElsewhere()).toContain('hello');
  });

  it('when it wants no creates for ten minutes', async () => {
    const action = { kind: 'status', status: 429, headers: { 'retry-after': '600' } } as const;
    troubled.faults.add({ method: 'POST', path: /batches$/, times: Infinity, action });
    const scope = openScope('anthropic');
    scope.askInTrouble();
    await until(() => troubled.countRequests('POST', /batches$/) > 0, 'a refusal');
    expect(await scope.askElsewhere()).toContain('hello');
  });

  it('when its create hangs', async () => {
    const action = { kind: 'hang', ms: 600_000 } as const;
    troubled.faults.add({ method: 'POST', path: /batches$/, times: Infinity, action });
    const scope = openScope('anthropic');
    scope.askInTrouble();
    await until(() => troubled.countRequests('POST', /batches$/) > 0, 'the create');
    expect(await scope.askElsewhere()).toContain('hello');
  });

  it('when it may have no other batch under way', async () => {
    troubled.hold();
    const scope = openScope('openai', { maxInFlight: 1 });
    scope.askInTrouble();
    await until(() => troubled.batches().length === 1, 'the batch');
    expect(await scope.askElsewhere()).toContain('hello');
  });
});
