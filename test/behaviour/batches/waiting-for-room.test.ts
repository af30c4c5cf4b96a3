import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BatchingContext, batchify } from '../../../src/index.ts';
import { ask, askClaude, chatRequest } from '../../support/ask.ts';
import { fastClock } from '../../support/programs/parts/fast-clock.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;

beforeEach(async () => {
  stage = await openStage();
});

afterEach(() => stage.close());

/** Minutes pass in milliseconds, so that waiting for room takes none of ours. */
function options(given = {}) {
  const clock = fastClock({ epoch: Date.now(), speed: 1_000 });
  return stage.options({ clock, window: '1s', poll: '5s', ...given });
}

const prompts = (count: number) => Array.from({ length: count }, (_, n) => `question ${n}`);

function expectAnswers(answers: readonly string[], asked: readonly string[]): void {
  for (const [index, prompt] of asked.entries()) expect(answers[index]).toContain(`"${prompt}"`);
}

/** Asks for all of it at once; each caller gets its own answer, and the scope closes. */
async function expectAllAnswered<Client>(
  scope: BatchingContext,
  asked: readonly string[],
  askOne: (client: Client, prompt: string) => Promise<string>,
  client: Client,
): Promise<void> {
  const answers = await scope.run(() => Promise.all(asked.map((one) => askOne(client, one))));
  await scope.close();
  expectAnswers(answers, asked);
}

function failedBatches(): number {
  return stage.simulator.batches().filter(({ ending }) => ending === 'failed').length;
}

/** Batches stay under way until one more was refused, so that there is no room in any case. */
function holdUntilRefused(scope: BatchingContext): readonly string[] {
  const reasons: string[] = [];
  stage.simulator.hold();
  scope.on('batch:resent', ({ reason }) => {
    reasons.push(reason);
    stage.simulator.release();
  });
  return reasons;
}

describe('where OpenAI takes only so many tokens at once', () => {
  it('batches wait for room, use up no attempt, and each request is executed once', async () => {
    stage.simulator.configure({ limits: { openai: { enqueuedTokens: 150 } } });
    const scope = batchify(options({ batchSize: 5, attempts: 1 }));
    const reasons = holdUntilRefused(scope);
    const asked = prompts(40);
    await expectAllAnswered(scope, asked, ask, stage.openai());
    expect(stage.simulator.meter.total).toBe(40);
    expect(scope.stats).toMatchObject({ answered: 40, failed: 0, retried: 0 });
    expect(failedBatches()).toBeGreaterThan(0);
    expect(reasons[0]).toMatch(/^no room yet: Enqueued token limit reached/);
  });

  it('who has waited for room is tried as often as anybody else', async () => {
    const errors = [{ code: 'token_limit_exceeded', message: 'Enqueued token limit reached' }];
    stage.simulator.faults.nextBatch({ outcome: 'failed', errors });
    const scope = batchify(options({ attempts: 2 }));
    await expectAllAnswered(scope, ['[[once status 500]]'], ask, stage.openai());
    expect(failedBatches()).toBe(1);
    expect(scope.stats).toMatchObject({ answered: 1, failed: 0, retried: 1 });
  });

  it('a batch that never fits is sent in parts', async () => {
    stage.simulator.configure({ limits: { openai: { enqueuedTokens: 150 } } });
    const scope = batchify(options({ attempts: 1 }));
    const asked = prompts(60);
    await expectAllAnswered(scope, asked, ask, stage.openai());
    expect(stage.simulator.meter.total).toBe(60);
    expect(scope.stats.retried).toBe(0);
  });

  it('what was learnt is known to the next run: nothing is refused again', async () => {
    stage.simulator.configure({ limits: { openai: { enqueuedTokens: 150 } } });
    const store = stage.newStore();
    const client = stage.openai();
    const first = prompts(60);
    await batchify(
      () => Promise.all(first.map((prompt) => ask(client, prompt))),
      options({ store }),
    );
    const refused = failedBatches();
    expect(refused).toBeGreaterThan(0);
    const second = first.map((prompt) => `another ${prompt}`);
    const answers = await batchify(
      () => Promise.all(second.map((prompt) => ask(client, prompt))),
      options({ store }),
    );
    expectAnswers(answers, second);
    expect(failedBatches()).toBe(refused);
  });

  it('a request that is larger than all the room there is gets the provider’s reason', async () => {
    stage.simulator.configure({ limits: { openai: { enqueuedTokens: 100 } } });
    const scope = batchify(options());
    const url = `${stage.simulator.baseUrl('openai')}/chat/completions`;
    const response = await scope.run(() => fetch(url, chatRequest('x'.repeat(4_000))));
    await scope.close();
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 'token_limit_exceeded' } });
    expect(stage.simulator.meter.total).toBe(0);
  });

  it('one that is a little larger is tried for minutes, and gets it, too', async () => {
    stage.simulator.configure({ limits: { openai: { enqueuedTokens: 100 } } });
    const scope = batchify(options());
    const url = `${stage.simulator.baseUrl('openai')}/chat/completions`;
    const response = await scope.run(() => fetch(url, chatRequest('x'.repeat(500))));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 'token_limit_exceeded' } });
    expect(failedBatches()).toBeGreaterThanOrEqual(3);
    expect(failedBatches()).toBeLessThan(30);
    expect(await scope.run(() => ask(stage.openai(), 'one that fits'))).toContain('one that fits');
    await scope.close();
  });

  it('a deadline ends the waiting', async () => {
    stage.simulator.configure({ limits: { openai: { enqueuedTokens: 30 } } });
    stage.simulator.hold();
    const client = stage.openai();
    const first = batchify(options());
    const held = first.run(() => ask(client, 'the first'));
    await new Promise<void>((resolve) => first.on('batch:polled', () => resolve()));
    const scope = batchify(options({ deadline: '10m' }));
    const url = `${stage.simulator.baseUrl('openai')}/chat/completions`;
    const response = await scope.run(() => fetch(url, chatRequest('the second')));
    expect(response.status).toBe(504);
    expect(await response.json()).toMatchObject({ error: { type: 'batchling_deadline' } });
    stage.simulator.release();
    expect(await held).toContain('"the first"');
    await Promise.all([first.close(), scope.close()]);
    expect(stage.simulator.meter.total).toBe(1);
  });
});

describe('where Anthropic’s queue is full', () => {
  it('batches wait for room, and each request is executed once', async () => {
    stage.simulator.configure({ limits: { anthropic: { queuedRequests: 10 } } });
    const scope = batchify(options({ batchSize: 5, attempts: 1 }));
    const reasons = holdUntilRefused(scope);
    const asked = prompts(30);
    await expectAllAnswered(scope, asked, askClaude, stage.anthropic());
    expect(stage.simulator.meter.total).toBe(30);
    expect(scope.stats.retried).toBe(0);
    expect(reasons[0]).toMatch(/^no room yet: Too many batch requests/);
  });

  it('a batch that never fits is sent in parts', async () => {
    stage.simulator.configure({ limits: { anthropic: { queuedRequests: 10 } } });
    const scope = batchify(options({ attempts: 1 }));
    const asked = prompts(30);
    await expectAllAnswered(scope, asked, askClaude, stage.anthropic());
    expect(stage.simulator.meter.total).toBe(30);
  });
});
