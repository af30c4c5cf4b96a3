import { describe, expect } from 'vitest';
import { UnknownOutcomeError } from '../../base/errors.ts';
import type { Remote, Row } from '../batcher.ts';
import {
  all,
  apiKey,
  type BatcherSubject,
  failureOf,
  idOf,
  openBench,
  planOf,
  type Test,
} from './subject.test-helper.ts';

const prompts = ['one', 'two', 'three'];

/** A batch from its upload to its last line. */
export function roundTripConformance({ batcher }: BatcherSubject, test: Test): void {
  describe('a batch', () => {
    test('is staged as often as one likes, and nothing runs before its create', async (subject) => {
      const { simulator, wire, ended, rows } = await openBench(subject);
      const plan = planOf(subject, prompts);
      await batcher.stage(wire, plan);
      const handle = await batcher.stage(wire, plan);
      expect(simulator.batches()).toEqual([]);
      const remote = await batcher.create(wire, plan, handle);
      expect(idsOf(await rows(await ended(remote, plan, handle)))).toEqual(
        prompts.map(toId).sort(),
      );
      expect(simulator.meter.total).toBe(prompts.length);
    });

    test('that fails as a whole says so', async (subject) => {
      const { simulator, send, ended } = await openBench(subject);
      const errors = [{ code: 'invalid_request', message: 'The file is no good.' }];
      simulator.faults.nextBatch({ outcome: 'failed', errors });
      const { plan, handle, remote } = await send(prompts);
      const { failure } = await ended(remote, plan, handle);
      expect(failure).toMatchObject({ next: 'fail' });
      expect(failure?.message).toContain('no good');
    });

    test('has an answer for each id, with its tokens', async (subject) => {
      const { simulator, send, ended, rows } = await openBench(subject);
      const { plan, handle, remote } = await send(prompts);
      expect(remote.id).not.toBe('');
      const last = await ended(remote, plan, handle);
      expect(last).toMatchObject({ id: remote.id, readable: true });
      const outcomes = answersOf(await rows(last));
      for (const [at, prompt] of prompts.entries()) {
        const answer = outcomes.get(idOf(prompt));
        expect(answer).toMatchObject({ status: 200 });
        expect(answer?.headers['content-type']).toContain('application/json');
        expect(answer?.body).toContain(prompt);
        const usage = batcher.usage(JSON.parse(answer?.body ?? ''));
        expect(usage?.inputTokens, `tokens of prompt ${at}`).toBeGreaterThan(0);
        expect(usage?.outputTokens).toBeGreaterThan(0);
      }
      expect(simulator.meter.total).toBe(prompts.length);
    });

    test('is created without its bodies where its handle is said to be enough', async (subject) => {
      const { wire, ended, rows } = await openBench(subject);
      expect(batcher.canCreateFrom({})).toBe(false);
      const plan = planOf(subject, prompts);
      const handle = await batcher.stage(wire, plan);
      if (!batcher.canCreateFrom(handle)) return;
      const bare = {
        ...plan,
        items: () => {
          throw new Error('the bodies were read');
        },
      };
      const remote = await batcher.create(wire, bare, handle);
      expect(await rows(await ended(remote, plan, handle))).toHaveLength(prompts.length);
    });

    test('is polled with many others, each told of once, among batches of strangers', async (subject) => {
      const { wire, send } = await openBench(subject, { foreignBatches: true });
      const sent = [];
      for (const prompt of ['a', 'b', 'c', 'd', 'e']) sent.push(await send([prompt]));
      const open = sent.map(({ remote, plan, handle }) => ({
        id: remote.id,
        count: plan.count,
        handle,
      }));
      const unknown = { id: 'no-such-batch', count: 1, handle: {} };
      const seen = await all(batcher.poll(wire, [...open, unknown]));
      expect(seen.map(({ id }) => id).sort()).toEqual(
        [...open, unknown].map(({ id }) => id).sort(),
      );
      const missing = seen.filter(({ state }) => state === 'missing').map(({ id }) => id);
      expect(missing).toEqual(['no-such-batch']);
    });

    test('that is missing is told as missing, not as an error', async (subject) => {
      const { wire } = await openBench(subject);
      const polled = { id: 'no-such-batch', count: 1, handle: {} };
      const seen = await all(batcher.poll(wire, [polled]));
      expect(seen).toMatchObject([{ id: 'no-such-batch', state: 'missing', readable: false }]);
    });

    test('with a status that nobody knows goes on', async (subject) => {
      const { simulator, wire, send } = await openBench(subject);
      simulator.faults.nextBatch({ stuckIn: 'in_progress', unknownStatus: 'pondering' });
      const { plan, handle, remote } = await send(prompts);
      await expect.poll(() => simulator.batches()[0]?.phase).toBe('in_progress');
      const polled = { id: remote.id, count: plan.count, handle };
      const [seen] = await all(batcher.poll(wire, [polled]));
      expect(seen?.raw.toLowerCase()).toBe('pondering');
      expect(['queued', 'running']).toContain(seen?.state);
      expect(seen?.failure).toBeUndefined();
    });

    test('whose create was lost is found again', async (subject) => {
      const { wire, strike, ended, rows } = await openBench(subject);
      const plan = planOf(subject, prompts);
      const handle = await batcher.stage(wire, plan);
      strike('create', { kind: 'lost' });
      const error = await failureOf(batcher.create(wire, plan, handle));
      expect(error).toBeInstanceOf(UnknownOutcomeError);
      const found = await batcher.find(wire, plan, handle);
      if (found.kind === 'absent') throw new Error('The batch was not found');
      expect(found.kind).toBe(batcher.info.exactlyFindable ? 'exact' : 'candidates');
      expect(found.remotes).toHaveLength(1);
      const [remote] = found.remotes as readonly [Remote];
      expect(idsOf(await rows(await ended(remote, plan, handle)))).toEqual(
        prompts.map(toId).sort(),
      );
    });

    test('that was never accepted is not found among those of strangers', async (subject) => {
      const { simulator, wire, strike, send } = await openBench(subject);
      await send(['someone calls first']);
      const provider = subject.simulated ?? batcher.info.name;
      for (let at = 0; at < 3; at += 1) simulator.addForeignBatch({ provider, size: 3 });
      // Batches of one millisecond cannot be told apart by their times.
      await new Promise((resolve) => setTimeout(resolve, 5));
      await send(['the newest of all']);
      const plan = planOf(subject, prompts);
      const handle = await batcher.stage(wire, plan);
      strike('create', { kind: 'reset' });
      await failureOf(batcher.create(wire, plan, handle));
      expect(await batcher.find(wire, plan, handle)).toEqual({ kind: 'absent' });
    });

    test('that expires has answers for what has run, and says why the rest has none', async (subject) => {
      const { simulator, send, ended, rows } = await openBench(subject);
      simulator.faults.nextBatch({ outcome: 'expired', completedFraction: 1 / 3 });
      const { plan, handle, remote } = await send(prompts);
      expect(await unfinishedOf(await ended(remote, plan, handle), rows)).toEqual(['expired']);
    });

    test('can be cancelled', async (subject) => {
      const { simulator, wire, send, ended, rows } = await openBench(subject);
      simulator.hold();
      const { plan, handle, remote } = await send(prompts);
      await batcher.cancel(wire, remote);
      const last = await ended(remote, plan, handle);
      expect(await unfinishedOf(last, rows)).toEqual(['cancelled']);
      expect(simulator.meter.total).toBe(0);
    });

    test('can be cleaned up once its results are read', async (subject) => {
      const { wire, send, ended, rows } = await openBench(subject);
      const { plan, handle, remote } = await send(prompts);
      await rows(await ended(remote, plan, handle));
      await batcher.cleanup(wire, handle);
    });

    test('is seen by keys of its own account only', async (subject) => {
      const { wireWith, send } = await openBench(subject);
      await send(['one before']);
      const { handle } = await send(prompts);
      const own = await batcher.sharesAccount(wireWith(apiKey), handle);
      const other = await batcher.sharesAccount(wireWith('sk-of-somebody-else'), handle);
      expect([own, other]).toEqual(own === undefined ? [undefined, undefined] : [true, false]);
    });
  });
}

const toId = (prompt: string) => idOf(prompt);

function idsOf(rows: readonly Row[]): string[] {
  return rows.flatMap((row) => ('id' in row ? [row.id] : [])).sort();
}

function answersOf(rows: readonly Row[]) {
  return new Map(
    rows.flatMap((row) =>
      'id' in row && row.outcome.kind === 'answer' ? [[row.id, row.outcome.answer] as const] : [],
    ),
  );
}

/** Why requests have no answer: by their own lines, or by the state of the batch. */
async function unfinishedOf(
  remote: Remote,
  rows: (remote: Remote) => Promise<Row[]>,
): Promise<(string | undefined)[]> {
  const reasons = new Map<string, string | undefined>(
    prompts.map((prompt) => [idOf(prompt), remote.unfinished]),
  );
  for (const row of await rows(remote)) {
    if (!('id' in row)) continue;
    if (row.outcome.kind === 'retry') reasons.set(row.id, row.outcome.reason);
    else reasons.delete(row.id);
  }
  return [...new Set(reasons.values())];
}
