import { expect } from 'vitest';
import fc from '../../../test/support/fast-check.ts';
import { BatchlingError } from '../../base/errors.ts';
import type { Admission, BatchId, Lease, Ledger, OwnerId, RequestId } from '../ledger.ts';
import type { LedgerOptions } from '../ledger-options.ts';
import { openMemoryLedger } from '../memory/memory-ledger.ts';
import { bad, fingerprintOf, good } from './subject.test-helper.ts';

const small = fc.nat({ max: 3 });
const few = fc.nat({ max: 1 });
/** Mostly the newest lease, now and then an older one. */
const recent = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat({ max: 5 }));
const outcome = fc.constantFrom('good', 'bad', 'retry', 'release');

/** Numbers stand for "the nth known owner, request or lease", so that any sequence makes sense. */
const command = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('admit' as const),
      owner: small,
      asks: fc.array(
        fc.record({
          fingerprint: few,
          occurrence: fc.constantFrom(0, 1, 'next' as const),
          cache: fc.boolean(),
          waiting: fc.boolean(),
        }),
        { minLength: 1, maxLength: 4 },
      ),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('join' as const), run: few }) },

  { weight: 2, arbitrary: fc.record({ do: fc.constant('leave' as const), owner: small }) },

  fc.record({ do: fc.constant('withdraw' as const), owner: small, request: fc.nat() }),
  { weight: 4, arbitrary: fc.record({ do: fc.constant('plan' as const), owner: small }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('staged', 'creating', 'accepted', 'refused', 'released', 'ended'),
      lease: recent,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('collected', 'settled'),
      lease: recent,
      owner: small,
      outcomes: fc.array(fc.tuple(fc.nat(), outcome), { maxLength: 4 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('claim' as const), owner: small, lease: recent }),
  },
  fc.record({ do: fc.constant('give-back' as const), lease: recent }),
  fc.record({ do: fc.constant('look' as const) }),
);

const agreementCommands = fc.array(command, { minLength: 20, maxLength: 80, size: 'max' });

type Command = Parameters<typeof command.map>[0] extends (value: infer T) => unknown ? T : never;

/** Runs commands on one ledger and tells what it said, with ids replaced by their order. */
class Script {
  readonly #ledger: Ledger;
  readonly #owners: OwnerId[] = [];
  readonly #requests: RequestId[] = [];
  readonly #leases: Lease[] = [];
  readonly #batches: BatchId[] = [];
  #queue = 0;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  async run(command: Command): Promise<unknown> {
    if (this.#owners.length === 0) await this.#start();
    try {
      return await this.#run(command);
    } catch (error) {
      if (BatchlingError.isInstance(error)) return { code: error.code };
      throw error;
    }
  }

  async #start(): Promise<void> {
    const account = await this.#ledger.account({ provider: 'openai', hash: new Uint8Array(32) });
    this.#queue = await this.#ledger.queue({
      account,
      provider: 'openai',
      base: 'https://api.openai.com/v1',
      endpoint: '/v1/chat/completions',
      model: 'gpt-4o-mini',
      batchHeaders: {},
    });
    for (const run of ['run-0', 'run-0', 'run-1']) await this.#join(run);
  }

  async #join(run: string): Promise<void> {
    this.#owners.push(await this.#ledger.join({ run, host: 'here', pid: 1 }));
  }

  async #run(command: Command): Promise<unknown> {
    const ledger = this.#ledger;
    switch (command.do) {
      case 'join':
        return this.#join(`run-${command.run}`);
      case 'leave':
        return ledger.leave(this.#owner(command.owner));
      case 'admit': {
        const asks = command.asks.map(({ fingerprint, ...ask }) => ({
          ...ask,
          fingerprint: fingerprintOf(fingerprint),
          queue: this.#queue,
        }));
        const admissions = await ledger.admit(this.#owner(command.owner), asks);
        return admissions.map((admission) => this.#normalise(admission));
      }
      case 'withdraw':
        return ledger.withdraw(this.#owner(command.owner), this.#some([command.request]));
      case 'plan':
        return this.#plan(this.#owner(command.owner));
      case 'claim': {
        const lease = this.#lease(command.lease);
        const claimed = await ledger.claim(this.#owner(command.owner), lease.batch);
        if (!claimed) return undefined;
        this.#leases.push(claimed.lease);
        const { members, state, handle, remoteId, cursor } = claimed;
        return {
          state,
          handle,
          remoteId,
          cursor,
          epoch: claimed.lease.epoch,
          members: members.map((member) => ({
            ...member,
            request: this.#requests.indexOf(member.request),
          })),
        };
      }
      case 'give-back':
        return ledger.giveBack(this.#lease(command.lease));
      case 'look': {
        const claimable = await ledger.claimable();
        return {
          claimable: claimable.map((batch) => this.#batches.indexOf(batch)),
          list: await ledger.list(),
        };
      }
      case 'collected':
      case 'settled': {
        const settlements = command.outcomes.flatMap(([index, is]) =>
          this.#some([index]).map((request) => {
            if (is === 'retry' || is === 'release') return { request, is } as const;
            return { request, is: 'answer', answer: is === 'good' ? good : bad } as const;
          }),
        );
        if (command.do === 'settled') {
          return ledger.settled(this.#owner(command.owner), settlements);
        }
        const { lease } = command;
        return ledger.collected(this.#lease(lease), settlements, `${lease}`);
      }
      default:
        return this.#move(command.do, this.#lease(command.lease));
    }
  }

  #move(to: string, lease: Lease): Promise<unknown> {
    const ledger = this.#ledger;
    switch (to) {
      case 'staged':
        return ledger.staged(lease, { fileId: 'staged' });
      case 'creating':
        return ledger.creating(lease, { fileId: 'creating' }, { alone: true });
      case 'accepted':
        return ledger.accepted(lease, { id: 'remote', raw: 'validating' });
      case 'refused':
        return ledger.refused(lease, 'no');
      case 'released':
        return ledger.released(lease);
      default:
        return ledger.ended(lease);
    }
  }

  /** Tries to plan every known request; the ledgers must agree on which of them can be. */
  async #plan(owner: OwnerId): Promise<unknown> {
    const planned: number[] = [];
    for (const [index, request] of this.#requests.entries()) {
      const token = `token-${this.#batches.length}`;
      try {
        const batch = { token, queue: this.#queue, tags: {} };
        const lease = await this.#ledger.plan(owner, batch, [request]);
        this.#leases.push(lease);
        this.#batches.push(lease.batch);
        planned.push(index);
      } catch (error) {
        if (!BatchlingError.isInstance(error)) throw error;
      }
    }
    return planned;
  }

  #normalise(admission: Admission): unknown {
    if (!this.#requests.includes(admission.request)) this.#requests.push(admission.request);
    const request = this.#requests.indexOf(admission.request);
    if (admission.is !== 'wait' || admission.batch === undefined) return { ...admission, request };
    return { ...admission, request, batch: this.#batches.indexOf(admission.batch) };
  }

  #owner(index: number): OwnerId {
    return this.#owners.at(-1 - (index % this.#owners.length)) as OwnerId;
  }

  #lease(index: number): Lease {
    return this.#leases.at(-1 - index) ?? { batch: 987_654, owner: 987_654, epoch: 1 };
  }

  #some(indexes: readonly number[]): RequestId[] {
    if (this.#requests.length === 0) return [];
    return indexes.map((index) => this.#requests[index % this.#requests.length] as RequestId);
  }
}

interface Compared {
  /** How a ledger is opened that is to agree with the one in memory. */
  open(options: LedgerOptions): Promise<Ledger>;
  close(): Promise<unknown>;
  /** How many sequences are tried. */
  readonly runs: number;
}

/** Fails where the ledger and the one in memory decide differently. */
export async function expectAgreement({ open, close, runs }: Compared): Promise<void> {
  const play = async (list: readonly Command[], keep: 'answers' | 'none') => {
    const options = { clock: { now: () => 1_000 }, keep };
    const memory = new Script(await openMemoryLedger(options));
    const other = new Script(await open(options));
    for (const command of list) {
      const expected = await memory.run(command);
      expect(await other.run(command), JSON.stringify(command)).toEqual(expected);
    }
    await close();
  };
  const numRuns = Number(process.env.BATCHLING_TEST_RUNS ?? runs);
  const keeps = fc.constantFrom<'answers' | 'none'>('answers', 'none');
  await fc.assert(fc.asyncProperty(agreementCommands, keeps, play), { numRuns });
}
