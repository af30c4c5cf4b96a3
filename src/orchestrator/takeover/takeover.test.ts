import { beforeEach, describe, expect, it } from 'vitest';
import type { Remote } from '../../batchers/batcher.ts';
import type { ClaimedBatch, Ledger } from '../../ledger/ledger.ts';
import { type EngineParts, engineParts } from '../engine-parts.test-helper.ts';
import type { Batch } from '../model/batch.ts';
import type { BatchEnd } from '../model/batch-end.ts';
import type { BatchStart } from '../submit/batch-life.ts';
import { Permits } from '../submit/permit.ts';
import { Takeover } from './takeover.ts';

const found: Remote = { id: 'batch_1', state: 'running', raw: 'x', readable: false, sources: {} };

let parts: EngineParts;

beforeEach(async () => {
  parts = await engineParts();
});

interface Left {
  readonly state: ClaimedBatch['state'];
  /** The credential is another one than that of the batch. */
  readonly isOtherKey?: boolean;
  /** Whether the other credential belongs to the same account; `undefined`: nobody can tell. */
  readonly shares?: boolean | undefined;
  readonly isFound?: boolean;
  /** What was uploaded can be used without its bodies. */
  readonly isUploaded?: boolean;
}

/** Takes a batch of one line over that its caller asks for, and says what was done, and how it ended if it did. */
async function takeOver(left: Left): Promise<readonly (string | undefined)[]> {
  const { queue, context } = parts;
  const request = await parts.request('a', parts.scopeWith({ poll: { minimum: 1, maximum: 1 } }));
  const { fingerprint, occurrence, row } = request;
  const account = left.isOtherKey ? -1 : queue.account.id;
  const claimed = {
    token: 'bl_1',
    lease: { batch: 1, fence: 1 },
    state: left.state,
    handle: {},
    queue: { account },
    members: [{ fingerprint, occurrence, request: row, attempt: 0, settled: false }],
    ...(left.state === 'accepted' && { remoteId: 'batch_1' }),
  } as unknown as ClaimedBatch;
  const done: (string | undefined)[] = [];
  const note = (what: string) => async () => void done.push(what);
  let ended: Promise<BatchEnd | undefined> | undefined;
  queue.batcher.canCreateFrom = () => left.isUploaded === true;
  const ledger = { claim: async () => claimed, limit: async () => undefined };
  const taken = { ...context, ledger: ledger as unknown as Ledger };
  const takeover = new Takeover(taken, {
    permits: new Permits(taken),
    finder: {
      sharesAccount: async () => left.shares,
      find: async (batch: Batch) => {
        done.push('look');
        batch.moveTo({ name: 'looking' });
        return left.isFound ? found : undefined;
      },
    },
    protocol: { accept: note('accept'), create: note('create') },
    life: {
      live: async (_batch: Batch, _permit: unknown, { submitted }: BatchStart) => {
        ended = submitted;
        await submitted;
      },
    },
    caughtUp: async () => undefined,
  } as unknown as ConstructorParameters<typeof Takeover>[1]);
  const batch = await takeover.claim(1, request);
  const member = batch?.members.get(request.id);
  request.goElsewhere();
  if (batch && member) batch.attach(request, member);
  await parts.work.done();
  return [...done, (await ended)?.is];
}

describe('a batch that a dead owner has left', () => {
  it.each<[string, Left, readonly (string | undefined)[]]>([
    ['accepted is followed', { state: 'accepted' }, [undefined]],
    ['planned is released, to be planned anew', { state: 'planned' }, ['released']],
    [
      'uploaded is created from the upload',
      { state: 'staged', isUploaded: true },
      ['create', undefined],
    ],
    ['uploaded where that is of no use is released', { state: 'staged' }, ['released']],
    [
      'uploaded under a key of another account is released',
      { state: 'staged', isOtherKey: true, shares: false, isUploaded: true },
      ['released'],
    ],
    [
      'in the middle of its create is looked for, and adopted',
      { state: 'creating', isFound: true },
      ['look', 'accept', undefined],
    ],
    [
      'in the middle of its create, and found nowhere, is released',
      { state: 'creating' },
      ['look', 'released'],
    ],
    [
      'in the middle of its create, and found nowhere, is created from its upload',
      { state: 'creating', isUploaded: true },
      ['look', 'create', undefined],
    ],
    [
      'in the middle of its create under a key of another account is given up without a look',
      { state: 'creating', isOtherKey: true, shares: false },
      ['given up'],
    ],
    [
      'in the middle of its create under a key that nobody can place is not sent again',
      { state: 'creating', isOtherKey: true, shares: undefined },
      ['look', 'given up'],
    ],
    [
      'in the middle of its create under another key of the same account is adopted',
      { state: 'creating', isOtherKey: true, shares: true, isFound: true },
      ['look', 'accept', undefined],
    ],
  ])('%s', async (_name, left, expected) => {
    expect(await takeOver(left)).toEqual(expected);
  });
});
