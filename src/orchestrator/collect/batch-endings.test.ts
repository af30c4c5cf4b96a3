import { beforeEach, describe, expect, it } from 'vitest';
import type { BatchFailure, Remote } from '../../batchers/batcher.ts';
import { type EngineParts, engineParts } from '../engine-parts.test-helper.ts';
import type { Batch } from '../model/batch.ts';
import type { BatchEnd } from '../model/batch-end.ts';
import type { Request } from '../model/request.ts';
import { TooMuchError, UnwantedError } from '../model/unwanted.ts';
import { BatchEndings } from './batch-endings.ts';

const remote: Remote = { id: 'batch_1', state: 'running', raw: 'x', readable: false, sources: {} };
const answer = { status: 503, headers: {}, body: '' };

let parts: EngineParts;
let request: Request;
let batch: Batch;
let routes: string[];
let freed: number;

beforeEach(async () => {
  parts = await engineParts();
  request = await parts.request('a');
  batch = await parts.planned([request]);
  routes = [];
  freed = 0;
});

function accepted(): Promise<void> {
  batch.moveTo({ name: 'creating' });
  batch.moveTo({ name: 'running', remote, acceptedAt: 0 });
  return parts.context.ledger.creating(batch.lease, {}, { alone: false }).then(() => {
    return parts.context.ledger.accepted(batch.lease, remote);
  });
}

async function end(how: BatchEnd): Promise<void> {
  const endings = new BatchEndings(parts.context, {
    send: (_queue, requests) => routes.push(`send ${requests.length}`),
    withdraw: (requests) => routes.push(`withdraw ${requests.length}`),
    endDue: async (callers) => void routes.push(`end ${callers.length}`),
    follow: () => routes.push('follow'),
  });
  const permit = {
    freeSlot: () => {
      freed += 1;
    },
    refused: () => routes.push('no room'),
    isHopeless: () => false,
  };
  await endings.end(batch, permit, how);
  await parts.work.done();
}

const failure: BatchFailure = { code: 'x', message: 'x', meaning: 'refused', next: 'fail', answer };

describe('a batch that the provider never had', () => {
  it.each<[string, () => BatchEnd, readonly string[], number | undefined]>([
    ['was released, is queued anew', () => ({ is: 'released' }), [], undefined],
    ['was refused, tells its callers', () => ({ is: 'refused', failure }), [], 503],
    [
      'found no room, is sent again as a whole',
      () => ({ is: 'refused', failure: { ...failure, next: 'later' } }),
      ['no room', 'send 1'],
      undefined,
    ],
    [
      'is too much at once, is sent in parts',
      () => ({ is: 'unsent', error: new TooMuchError(batch) }),
      ['send 1'],
      undefined,
    ],
    [
      'was not wanted when it was to go, is sent for callers that came since',
      () => ({ is: 'unsent', error: new UnwantedError(batch) }),
      ['end 0', 'send 1'],
      undefined,
    ],
    ['met an error, tells its callers', () => ({ is: 'unsent', error: new Error('x') }), [], 502],
  ])('and that %s', async (_name, how, expected, status) => {
    await end(how());
    expect(routes).toEqual(expected);
    expect(parts.told('a')).toBe(status);
    expect(freed).toBe(1);
    expect(batch.phase.name).toBe('over');
    expect(parts.context.batches.size).toBe(0);
    expect(request.batch).toBeUndefined();
  });
});

describe('a batch that the provider has', () => {
  it('and no longer knows is over in the ledger before its requests queue anew', async () => {
    await accepted();
    await end({ is: 'gone' });
    expect(request.stage).toBe('queued');
    expect(await parts.context.ledger.list({ open: true })).toEqual([]);
  });

  it('and is given up stays open in the ledger, for whoever has more luck with it', async () => {
    await accepted();
    await end({ is: 'given up', answer });
    expect(parts.told('a')).toBe(503);
    expect(await parts.context.ledger.list({ open: true })).toHaveLength(1);
    expect(parts.context.batches.size).toBe(0);
  });

  it('and another owner has by now is followed there, and its callers hear nothing', async () => {
    await accepted();
    await end({ is: 'lost' });
    expect(routes).toEqual(['follow']);
    expect(parts.told('a')).toBeUndefined();
  });

  it('and lives on after its engine is left as it is', async () => {
    await accepted();
    await end({ is: 'stopped' });
    expect(batch.phase.name).toBe('running');
    expect(request.batch).toBe(batch);
  });
});
