import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  type BatchifyOptions,
  type BatchingContext,
  batchify,
  type ProviderName,
} from '../../../src/index.ts';
import type { Simulator, SimulatorOptions } from '../../../src/simulator/index.ts';
import { openStage, type Stage } from '../stage.ts';
import { soon, until } from '../until.ts';
import { ClientResults } from './client-results.ts';
import { keepControllers } from './kept-controllers.ts';

export interface AskOptions {
  readonly simulator: Simulator;
  readonly signal?: AbortSignal;
  /** Milliseconds, given to the client as its own timeout. */
  readonly timeout?: number;
}

/** A client as the cases use it: one way to ask, and how its errors are read. */
export interface ClientAdapter {
  readonly name: string;
  /** Whose versions are told; the first is the client itself. */
  readonly packages: readonly string[];
  /** The provider whose wire it speaks, where that is neither OpenAI's nor Anthropic's. */
  readonly provider?: ProviderName;
  /** What a scope has to be told of that provider. */
  readonly options?: BatchifyOptions;
  /** What the simulator has to allow. */
  readonly simulated?: SimulatorOptions;
  /** The status of a final error of a server, where 500 would make the client ask again. */
  readonly serverError?: number;
  /** Asks and returns the text of the answer. */
  ask(prompt: string, options: AskOptions): Promise<string>;
  /** The same by a stream, its pieces put together; missing for clients that know no streams. */
  stream?(prompt: string, options: AskOptions): Promise<string>;
  /** The status an error of the client's own class carries; `undefined` for any other error. */
  statusOf(error: unknown): number | undefined;
  /** Some clients reject by themselves at their deadline, whatever becomes of the request. */
  readonly givesUp?: string;
  readonly notes?: { readonly captured?: string; readonly errors?: string };
}

const timeout = 60;
const attempts = 2;
/** However far apart a client makes its calls, on however busy a machine. */
const untilFlushed = { window: '1h', maxWindow: '1h' } as const;

/** The same five questions to every client. */
export function clientCases(adapter: ClientAdapter): void {
  const { name, packages, notes = {} } = adapter;
  const results = new ClientResults(name, packages);
  let stage: Stage;
  let simulator: Simulator;

  /** Runs the work in a scope of its own, closed at its end. */
  async function inScope<T>(
    work: (scope: BatchingContext) => Promise<T>,
    given: BatchifyOptions = {},
  ): Promise<T> {
    const { provider } = adapter;
    const hosts = provider && { [simulator.baseUrl(provider)]: provider };
    const scope = batchify(
      stage.options({ ...(hosts && { hosts }), ...adapter.options, ...given }),
    );
    try {
      return await work(scope);
    } finally {
      simulator.release();
      await scope.close();
    }
  }

  function ask(scope: BatchingContext, prompt: string, more: Partial<AskOptions> = {}) {
    return scope.run(() => adapter.ask(prompt, { simulator, ...more }));
  }

  function failure(scope: BatchingContext, prompt: string, more: Partial<AskOptions> = {}) {
    const outcome = ask(scope, prompt, more).then(
      (answer) => {
        throw new Error(`answered: ${answer}`);
      },
      (error: unknown) => error,
    );
    outcome.catch(() => undefined);
    return outcome;
  }

  /** Asks with a timeout that is longer than what the client takes to make its call, on however busy a machine. */
  async function askInTime(scope: BatchingContext) {
    for (let patience = timeout; ; patience *= 2) {
      const asked = ask(scope, 'patience', { timeout: patience });
      let isOver = false;
      const over = () => {
        isOver = true;
      };
      asked.then(over, over);
      await until(() => isOver || scope.stats.captured > 0, 'the call');
      if (scope.stats.captured > 0) return { asked, patience };
    }
  }

  async function giveUpAndAskAgain(scope: BatchingContext, patience: number): Promise<void> {
    simulator.hold();
    await soon(failure(scope, 'patience', { timeout: patience }));
    const again = ask(scope, 'patience');
    again.catch(() => undefined);
    await until(() => scope.stats.batches.submitted > 0, 'the batch');
    simulator.release();
    expect(await soon(again)).toContain('answer to "patience"');
    await scope.close();
    expect(simulator.meter.total).toBe(1);
  }

  describe(name, () => {
    beforeAll(async () => {
      stage = await openStage(adapter.simulated);
      simulator = stage.simulator;
    });
    beforeEach(() => simulator.reset());
    afterAll(async () => {
      await results.write();
      await stage.close();
    });

    it('is captured: its calls share one batch and each gets its answer', () =>
      results.judge(
        'captured',
        () =>
          inScope(async (scope) => {
            const prompts = ['one', 'two', 'three'];
            const asked = Promise.all(prompts.map((prompt) => ask(scope, prompt)));
            asked.catch(() => undefined);
            await until(() => scope.stats.captured === 3, 'the calls');
            await scope.flush();
            const answers = await soon(asked);
            for (const [at, prompt] of prompts.entries()) {
              expect(answers[at]).toContain(`answer to "${prompt}"`);
            }
            expect(scope.stats).toMatchObject({ captured: 3, answered: 3, bypassed: 0 });
            expect(simulator.meter).toMatchObject({ batched: 3, realtime: 0 });
            expect(simulator.batches()).toHaveLength(1);
          }, untilFlushed),
        'yes',
        notes.captured,
      ));

    if (adapter.givesUp === undefined) {
      it('survives its own timeout, and asks once', () =>
        results.judge('timeout', () =>
          inScope(async (scope) => {
            simulator.hold();
            const { asked, patience } = await askInTime(scope);
            await until(() => scope.stats.batches.submitted === 1, 'the batch');
            await passTime(3 * patience);
            simulator.release();
            expect(await soon(asked)).toContain('answer to "patience"');
            expect(scope.stats.captured).toBe(1);
            expect(simulator.meter.total).toBe(1);
          }),
        ));
    } else {
      it('gives up at its own timeout; the request stays, and asking again re-joins it', () =>
        results.judge(
          'timeout',
          () =>
            inScope(async (scope) => {
              // Now the ledger is open, and the next call is soon known there.
              await soon(ask(scope, 'first of all'));
              simulator.meter.reset();
              await giveUpAndAskAgain(scope, timeout);
            }),
          'no',
          adapter.givesUp,
        ));

      it('gives up before its call is in the ledger, and asking again re-joins it all the same', () =>
        inScope((scope) => giveUpAndAskAgain(scope, 5)));
    }

    it("obeys the user's abort at once, and the other calls go on", () =>
      results.judge('abort', () =>
        inScope(async (scope) => {
          onTestFinished(keepControllers());
          simulator.hold();
          let sent = 0;
          scope.on('batch:submitted', ({ count }) => {
            sent += count;
          });
          const controller = new AbortController();
          const aborted = failure(scope, 'not needed', { signal: controller.signal });
          const kept = ask(scope, 'kept');
          await until(() => sent === 2, 'the batch');
          controller.abort();
          expect(await soon(aborted)).toBeInstanceOf(Error);
          expect(simulator.meter.total).toBe(0);
          simulator.release();
          expect(await soon(kept)).toContain('answer to "kept"');
          expect(scope.stats.captured).toBe(2);
        }),
      ));

    if (adapter.stream === undefined) results.note('stream', 'n.a.');
    else {
      const { stream } = adapter;
      it('streams an answer that came from a batch', () =>
        results.judge('stream', () =>
          inScope(async (scope) => {
            const answer = await soon(scope.run(() => stream('in pieces', { simulator })));
            expect(answer).toContain('answer to "in pieces"');
            expect(scope.stats).toMatchObject({ captured: 1, bypassed: 0 });
            expect(simulator.meter).toMatchObject({ batched: 1, realtime: 0 });
          }),
        ));
    }

    it('raises its own error for a failed item, which costs its attempts and no more', () =>
      results.judge(
        'errors',
        () =>
          inScope(
            async (scope) => {
              const [refused, broken] = await Promise.all([
                failure(scope, 'bad [[status 400]]'),
                failure(scope, 'unlucky [[status 500]]'),
              ]);
              expect(adapter.statusOf(refused), String(refused)).toBe(400);
              expect(adapter.statusOf(broken), String(broken)).toBe(adapter.serverError ?? 500);
              expect(simulator.meter.failed).toBe(1 + attempts);
              for (const { batchId } of simulator.meter.failures) expect(batchId).not.toBeNull();
            },
            { attempts },
          ),
        'yes',
        notes.errors,
      ));
  });
}

async function passTime(milliseconds: number): Promise<void> {
  const begin = performance.now();
  await until(() => performance.now() - begin > milliseconds);
}
