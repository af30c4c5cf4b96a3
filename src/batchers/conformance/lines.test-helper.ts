import { describe, expect } from 'vitest';
import type { Row } from '../batcher.ts';
import {
  type BatcherSubject,
  failureOf,
  idOf,
  openBench,
  type Test,
} from './subject.test-helper.ts';

/** Lines of results, good and bad. */
export function lineConformance({ batcher }: BatcherSubject, test: Test): void {
  async function linesOf(subject: BatcherSubject, prompt: string): Promise<Row[]> {
    const { send, ended, rows } = await openBench(subject);
    const { plan, handle, remote } = await send(['fine', prompt]);
    const read = await rows(await ended(remote, plan, handle));
    expect(read.filter(isOf('fine'))).toHaveLength(1);
    return read.filter((row) => !isOf('fine')(row));
  }

  describe('a line', () => {
    for (const status of [400, 401, 403, 404]) {
      test(`with status ${status} is the answer, as the SDK understands it`, async (subject) => {
        const prompt = `[[status ${status}]]`;
        const [line] = await linesOf(subject, prompt);
        expect(line).toMatchObject({ id: idOf(prompt), outcome: { answer: { status } } });
        if (subject.sdkError === undefined || !line || !('id' in line)) return;
        const { outcome } = line;
        const answer = outcome.kind === 'answer' ? outcome.answer : outcome.last;
        const error = subject.sdkError(answer);
        expect(error.status).toBe(status);
        expect(error.message).toContain('simulated status');
      });
    }

    for (const [status, reason] of [
      [429, 'rate-limit'],
      [500, 'server'],
      [503, 'server'],
    ] as const) {
      test(`with status ${status} is worth another attempt`, async (subject) => {
        const prompt = `[[status ${status}]]`;
        const outcome = { kind: 'retry', reason };
        expect(await linesOf(subject, prompt)).toMatchObject([{ id: idOf(prompt), outcome }]);
      });
    }

    for (const [marker, reason] of [
      ['empty', 'never-ran'],
      ['expired', 'expired'],
      ['canceled', 'cancelled'],
    ] as const) {
      test(`without an answer (${marker}) is no answer`, async (subject) => {
        const prompt = `[[${marker}]]`;
        const outcome = { kind: 'retry', reason };
        expect(await linesOf(subject, prompt)).toMatchObject([{ id: idOf(prompt), outcome }]);
      });
    }

    test('that is missing hides no other', async (subject) => {
      expect(await linesOf(subject, '[[missing]]')).toEqual([]);
    });

    test('that is broken is told as broken, and hides no other', async (subject) => {
      expect(await linesOf(subject, '[[broken]]')).toMatchObject([{ broken: expect.any(String) }]);
    });

    test('that comes twice has the same id twice', async (subject) => {
      const prompt = '[[double]]';
      const ids = (await linesOf(subject, prompt)).map((row) => ('id' in row ? row.id : row));
      expect(ids).toEqual([idOf(prompt), idOf(prompt)]);
    });

    test('of a stranger keeps its own id', async (subject) => {
      const ids = (await linesOf(subject, '[[foreign]]')).map((row) =>
        'id' in row ? row.id : row,
      );
      expect(ids).toHaveLength(2);
      expect(ids).toContain(idOf('[[foreign]]'));
    });
  });

  describe('results', () => {
    test('that are a page for people are told as garbled', async (subject) => {
      const { send, ended, rows, strike } = await openBench(subject);
      const { plan, handle, remote } = await send(['one']);
      const last = await ended(remote, plan, handle);
      strike('results', { kind: 'garbage' });
      expect(await rows(last)).toContainEqual({ unreadable: 'garbled' });
    });

    test('that are empty are told as empty', async (subject) => {
      const { send, ended, rows, strike } = await openBench(subject);
      const { plan, handle, remote } = await send(['one']);
      const last = await ended(remote, plan, handle);
      strike('results', { kind: 'status', status: 200, body: '' });
      expect(await rows(last)).toContainEqual({ unreadable: 'empty' });
    });

    test('that break off are an error, not the end', async (subject) => {
      const { send, ended, rows, strike } = await openBench(subject);
      const { plan, handle, remote } = await send(['one', 'two', 'three']);
      const last = await ended(remote, plan, handle);
      strike('results', { kind: 'truncate' });
      expect(await failureOf(rows(last))).toBeInstanceOf(Error);
    });

    test('that are not there yet are an error that says so', async (subject) => {
      const { send, ended, rows } = await openBench(subject, { resultsNotFoundReads: 1 });
      const { plan, handle, remote } = await send(['one']);
      const last = await ended(remote, plan, handle);
      const error = await failureOf(rows(last));
      expect(error).toMatchObject({ failure: { meaning: 'gone' } });
      // Every file of results is late by itself.
      const readable = () =>
        rows(last).then(
          (read) => read.length,
          () => 'not yet',
        );
      await expect.poll(readable).toBe(1);
    });

    test('that are archived are an error, lost or still to come, never the answer that there is none', async (subject) => {
      const { wire, send, simulator, rows } = await openBench(subject, { resultsKept: 0 });
      const { plan, handle, remote } = await send(['one']);
      await expect.poll(() => simulator.batches()[0]?.phase).toBe('ended');
      for await (const seen of batcher.poll(wire, [{ id: remote.id, count: plan.count, handle }])) {
        if (seen.incomplete || seen.lost !== undefined) return;
        expect(await failureOf(rows(seen))).toMatchObject({ failure: { meaning: 'gone' } });
      }
    });
  });
}

function isOf(prompt: string) {
  return (row: Row) => 'id' in row && row.id === idOf(prompt);
}
