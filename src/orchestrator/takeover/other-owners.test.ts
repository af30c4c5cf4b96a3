import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts';
import { until } from '../../../test/support/until.ts';
import { OpenAIBatcher } from '../../batchers/openai/openai-batcher.ts';
import {
  type Bench,
  fingerprintOf,
  good,
  openBench,
} from '../../ledger/conformance/subject.test-helper.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { openMemoryLedger } from '../../ledger/memory/memory-ledger.ts';
import type { Caller } from '../model/caller.ts';
import type { EngineContext } from '../model/engine-context.ts';
import { Request } from '../model/request.ts';
import type { RequestQueue } from '../model/request-queue.ts';
import { OtherOwners } from './other-owners.ts';

describe('a caller that waits for a request of another owner', () => {
  let clock: ManualClock;
  let bench: Bench;
  let row: number;

  beforeEach(async () => {
    clock = new ManualClock();
    const kill = { skip: 'not needed' };
    bench = await openBench({ name: 'memory', open: openMemoryLedger, kill });
    row = (await bench.ask(1)).request;
  });

  const answer = () => {
    const { ledger, me } = bench;
    return ledger.settled(me, [{ request: row, is: 'answer', answer: good }]);
  };

  async function wait(ledger: Ledger = bench.ledger): Promise<Caller> {
    const { ask, join, queue: id } = bench;
    const me = await join();
    const admission = await ask(1, { owner: me });
    const owner = { id: me, run: <T>(work: (given: number) => Promise<T>) => work(me) };
    const { signal: stopped } = new AbortController();
    const context = { clock, ledger, owner, stopped } as unknown as EngineContext;
    const nothing = async () => undefined;
    const others = new OtherOwners(context, nothing, nothing);
    const ignored = { letGo: () => {}, ended: () => {} };
    const batcher = new OpenAIBatcher();
    const queue = { id, batcher, bodies: ignored, clientRetries: ignored };
    const caller = { scope: { cache: true }, call: { settled: true } } as unknown as Caller;
    const key = Buffer.from(fingerprintOf(1)).toString('latin1');
    const expects = { outputLimit: undefined, answers: 1 };
    const request = new Request(queue as unknown as RequestQueue, key, '{}', expects, caller);
    others.follow(request, admission);
    return caller;
  }

  /** One look, to its end: then it has its answer, or there will be another look. */
  async function look(caller: Caller): Promise<void> {
    clock.step();
    await until(() => caller.isSettled || clock.timers === 1, 'the end of a look');
  }

  it('has the answer at the next look', async () => {
    const caller = await wait();
    await look(caller);
    await answer();
    await look(caller);
    expect(caller.isSettled).toBe(true);
  });

  it('has an answer that comes during a look at the next one', async () => {
    let looks = 0;
    const caller = await wait({
      ...bench.ledger,
      async admit(...given) {
        const admissions = await bench.ledger.admit(...given);
        looks += 1;
        if (looks === 1) await answer();
        return admissions;
      },
    });
    await look(caller);
    expect(looks).toBe(1);
    await look(caller);
    expect(caller.isSettled).toBe(true);
  });
});
