import { inspect } from 'node:util';
import { describe, expect } from 'vitest';
import { UnknownOutcomeError } from '../../base/errors.ts';
import type { FaultAction } from '../../simulator/index.ts';
import { RefusedError } from '../shared/refused-error.ts';
import { ReplyError } from '../shared/replies.ts';
import {
  all,
  apiKey,
  type BatcherSubject,
  type Bench,
  failureOf,
  openBench,
  planOf,
  type Test,
} from './subject.test-helper.ts';

const notUnderstood: readonly (readonly [what: string, action: FaultAction])[] = [
  ['a page for people', { kind: 'garbage' }],
  ['an empty object', { kind: 'status', status: 200, body: {} }],
  ['an empty list', { kind: 'status', status: 200, body: '[]' }],
  ['null', { kind: 'status', status: 200, body: 'null' }],
  ['an error with status 200', { kind: 'status', status: 200, body: { error: { message: 'no' } } }],
  ['nothing', { kind: 'status', status: 200, body: '' }],
  ['half of a reply', { kind: 'truncate' }],
];

/** Replies that are not what was asked for. */
export function replyConformance({ batcher }: BatcherSubject, test: Test): void {
  async function createAfter(subject: BatcherSubject, action: FaultAction): Promise<unknown> {
    const { wire, strike } = await openBench(subject);
    const plan = planOf(subject, ['one', 'two']);
    const handle = await batcher.stage(wire, plan);
    strike('create', action);
    return failureOf(batcher.create(wire, plan, handle));
  }

  async function pollAfter(subject: BatcherSubject, action: FaultAction): Promise<unknown> {
    const { wire, strike, send } = await openBench(subject);
    const { plan, handle, remote } = await send(['one']);
    strike('poll', action);
    return failureOf(all(batcher.poll(wire, [{ id: remote.id, count: plan.count, handle }])));
  }

  describe('the reply to a create', () => {
    for (const [status, meaning, next] of [
      [400, 'refused', 'fail'],
      [401, 'denied', 'fail'],
      [403, 'denied', 'fail'],
      [413, 'refused', 'smaller'],
      [429, 'full', 'later'],
      [503, 'busy', 'later'],
      [529, 'busy', 'later'],
    ] as const) {
      test(`with status ${status} means ${meaning}: ${next}`, async (subject) => {
        const headers = { 'retry-after': '7' };
        const error = await createAfter(subject, { kind: 'status', status, headers });
        expect(error).toBeInstanceOf(RefusedError);
        const answer = { status: subject.batcher.finalStatus(status) };
        const failure = { meaning, next, answer, retryAfter: 7_000 };
        expect(error).toMatchObject({ failure });
      });
    }

    for (const status of [408, 500, 502, 504, 520]) {
      test(`with status ${status} leaves open whether it was accepted`, async (subject) => {
        const error = await createAfter(subject, { kind: 'status', status });
        expect(error).toBeInstanceOf(UnknownOutcomeError);
      });
    }

    for (const [what, action] of notUnderstood) {
      test(`that is ${what} leaves open whether it was accepted`, async (subject) => {
        expect(await createAfter(subject, action)).toBeInstanceOf(UnknownOutcomeError);
      });
    }
  });

  describe('the reply to a poll', () => {
    for (const [status, meaning] of [
      [401, 'denied'],
      [403, 'denied'],
      [429, 'full'],
      [500, 'busy'],
      [503, 'busy'],
    ] as const) {
      test(`with status ${status} is an error that means ${meaning}`, async (subject) => {
        const error = await pollAfter(subject, { kind: 'status', status });
        expect(error).toBeInstanceOf(ReplyError);
        expect(error).toMatchObject({ failure: { meaning } });
      });
    }

    for (const [what, action] of notUnderstood) {
      test(`that is ${what} says nothing about the batch`, async (subject) => {
        expect(await pollAfter(subject, action)).toBeInstanceOf(UnknownOutcomeError);
      });
    }
  });

  describe('the list of batches', () => {
    for (const [what, action] of notUnderstood) {
      test(`that is ${what} does not prove that a batch is absent`, async (subject) => {
        const { wire, strike } = await openBench(subject);
        const plan = planOf(subject, ['one']);
        const handle = await batcher.stage(wire, plan);
        strike('list', action);
        const error = await failureOf(batcher.find(wire, plan, handle));
        expect(error).toBeInstanceOf(UnknownOutcomeError);
      });
    }
  });

  describe('the key', () => {
    const body = { error: { type: apiKey, code: apiKey, message: `Wrong key: ${apiKey}` } };
    const steps: Record<string, (bench: Bench, subject: BatcherSubject) => Promise<unknown>> = {
      create: async ({ wire }, subject) => {
        const plan = planOf(subject, ['one']);
        return batcher.create(wire, plan, await batcher.stage(wire, plan));
      },
      upload: ({ wire }, subject) => batcher.stage(wire, planOf(subject, ['one'])),
      list: async ({ wire }, subject) => {
        const plan = planOf(subject, ['one']);
        const handle = await batcher.stage(wire, plan);
        return batcher.find(wire, plan, handle);
      },
      poll: async ({ wire, send }) => {
        const { plan, handle, remote } = await send(['one']);
        return all(batcher.poll(wire, [{ id: remote.id, count: plan.count, handle }]));
      },
      results: async ({ send, ended, rows }) => {
        const { plan, handle, remote } = await send(['one']);
        return rows(await ended(remote, plan, handle));
      },
      cancel: async ({ wire, send }) => batcher.cancel(wire, (await send(['one'])).remote),
    };

    for (const [step, run] of Object.entries(steps)) {
      test(`is in no error, although it is echoed by a refused ${step}`, async (subject) => {
        for (const status of [400, 401, 500]) {
          const bench = await openBench(subject);
          // Some steps do not exist everywhere; then the key is not echoed either.
          bench.strike(step as 'create', { kind: 'status', status, body }, { times: 1_000 });
          const error = await failureOf(run(bench, subject));
          expect(inspect(error, { depth: 10 })).not.toContain(apiKey);
        }
      });
    }
  });
}
