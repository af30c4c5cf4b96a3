import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { patientClock } from '../../support/clocks/patient-clock.ts';
import { soon, until } from '../../support/until.ts';
import { askGemini, type GoogleStage, manyPrompts, openGoogleStage } from './google-stage.ts';

let stage: GoogleStage;

beforeAll(async () => {
  stage = await openGoogleStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());
afterEach(() => vi.unstubAllEnvs());

const prompts = manyPrompts(10);
const finished = 6;

/** The simulated model answers the first six, and the others when it is let. */
function slowModel(): () => void {
  let begun = 0;
  let letGo = () => {};
  const slow = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  stage.simulator.configure({
    answer: async ({ prompt }) => {
      begun += 1;
      if (begun > finished) await slow;
      return `answer to ${prompt}`;
    },
  });
  return letGo;
}

const statusOf = (error: unknown) => (error as { status?: number }).status;
const askAll = () =>
  Promise.all(prompts.map((prompt) => askGemini(stage.google(), prompt).catch(statusOf)));

/** Asks all, and lets the deadline pass when six of ten are finished. */
async function runToDeadline(given: BatchifyOptions) {
  const { clock, skipHours } = patientClock();
  const scope = batchify({ ...given, clock, deadline: '1h' });
  const asked = scope.run(askAll);
  await until(() => stage.simulator.meter.total === finished, 'six of ten');
  skipHours(2);
  return { scope, asked };
}

const cancels = () => stage.simulator.countRequests('POST', /:cancel$/);

describe('a deadline at a provider that loses what a cancelled batch has finished', () => {
  it.each([
    ['the next run', 'second'],
    ['a later scope of the same run', 'first'],
  ])('gives the error and leaves the batch to %s, which pays for nothing', async (_, run) => {
    vi.stubEnv('BATCHLING_RUN', 'first');
    const letGo = slowModel();
    const options = stage.googleOptions();
    const { scope, asked } = await runToDeadline(options);
    expect(await soon(asked)).toEqual(prompts.map(() => 504));
    await scope.close();
    letGo();
    vi.stubEnv('BATCHLING_RUN', run);
    const answers = await batchify(askAll, options);
    expect(answers).toEqual(prompts.map((prompt) => `answer to ${prompt}`));
    expect(cancels()).toBe(0);
    expect(stage.simulator.meter.total).toBe(prompts.length);
    expect(stage.simulator.meter.executedTwice()).toEqual([]);
  });

  it('says in the error that the batch goes on', async () => {
    const letGo = slowModel();
    const url = `${stage.base}/v1beta/models/gemini-test:generateContent`;
    const body = JSON.stringify({ contents: [{ parts: [{ text: 'alone' }] }] });
    const headers = { 'content-type': 'application/json', 'x-goog-api-key': 'AIza-test-key' };
    const { clock, skipHours } = patientClock();
    const scope = batchify(stage.googleOptions({ clock, deadline: '1h' }));
    scope.on('batch:submitted', () => setImmediate(() => skipHours(2)));
    stage.simulator.hold();
    const response = await scope.run(() => fetch(url, { method: 'POST', headers, body }));
    await scope.close();
    letGo();
    expect(await response.text()).toContain('run the program again');
  });

  it('cancels with cancelAtDeadline, and says what is lost', async () => {
    const letGo = slowModel();
    const lines: string[] = [];
    const warn = (line: string) => void lines.push(line);
    const logger = { ...console, debug: () => {}, info: () => {}, warn };
    const { scope, asked } = await runToDeadline(
      stage.googleOptions({ providers: { google: { cancelAtDeadline: true } }, logger }),
    );
    await until(() => cancels() === 1, 'the cancel');
    letGo();
    expect(await soon(asked)).toEqual(prompts.map(() => 504));
    await scope.close();
    expect(lines.filter((line) => line.includes('although they are paid for'))).toHaveLength(1);
  });
});
