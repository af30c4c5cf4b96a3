import { beforeEach, describe, expect, it } from 'vitest';
import { type EngineParts, engineParts } from '../engine-parts.test-helper.ts';
import { Deadlines } from '../watch/deadlines.ts';
import { Permits } from './permit.ts';
import { Submitter } from './submitter.ts';

let parts: EngineParts;

beforeEach(async () => {
  parts = await engineParts();
});

function submitterWith(ofBatch: () => Promise<object>): Submitter {
  const { context } = parts;
  const deadlines = new Deadlines(context, { withdraw: () => {}, sendOrdinary: () => {} });
  const services = { permits: new Permits(context), budgets: { ofBatch }, deadlines };
  return new Submitter(context, services as unknown as ConstructorParameters<typeof Submitter>[1]);
}

describe('a batch that cannot be planned', () => {
  it('because one of its requests is in another plan leaves nobody else waiting', async () => {
    const [first, other] = [await parts.request('a'), await parts.request('b')];
    other.beginPlan();
    submitterWith(async () => ({})).send(parts.queue, [first, other]);
    await parts.work.done();
    expect(parts.told('a')).toBe(500);
    expect(first.stage).toBe('done');
    expect(other.stage).toBe('planning');
  });

  it('because something breaks on the way tells its callers, and gives its slot back', async () => {
    const { queue, work } = parts;
    const broken = () => Promise.reject(new Error('no price can be found'));
    submitterWith(broken).send(queue, [await parts.request('a')]);
    await work.done();
    expect(parts.told('a')).toBe(502);
    await queue.account.slots.acquire(1, AbortSignal.timeout(1_000), queue);
  });
});
