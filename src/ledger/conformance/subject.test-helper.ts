import { expect } from 'vitest';
import { LeaseLostError } from '../../base/errors.ts';
import type { Answer } from '../../base/types.ts';
import type { Admission, Ask, Lease, Ledger, OwnerId, QueueId, RequestId } from '../ledger.ts';
import type { LedgerOptions } from '../ledger-options.ts';

/** One implementation under test. */
export interface LedgerSubject {
  readonly name: string;
  /** A new, empty ledger each time. */
  readonly open: (options?: LedgerOptions) => Promise<Ledger>;
  /** Makes an owner look as if its process was killed, or says why that is not possible. */
  readonly kill: ((ledger: Ledger, owner: OwnerId) => Promise<void>) | { readonly skip: string };
}

/** A ledger with one owner and one queue, and short words for what most tests do. */
export interface Bench {
  readonly ledger: Ledger;
  readonly me: OwnerId;
  readonly queue: QueueId;
  readonly clock: { time: number };
  join(run?: string): Promise<OwnerId>;
  ask(fingerprint: number, more?: Partial<Ask> & { owner?: OwnerId }): Promise<Admission>;
  /** Admitted, planned and accepted. */
  send(fingerprints: readonly number[], owner?: OwnerId): Promise<Sent>;
  /** Admitted and answered without a batch. */
  settle(fingerprint: number, answer?: Answer, owner?: OwnerId): Promise<RequestId>;
}

export interface Sent {
  readonly lease: Lease;
  readonly requests: readonly RequestId[];
}

export const good: Answer = {
  status: 200,
  headers: { 'content-type': 'application/json', 'x-request-id': 'req_1' },
  body: '{"text":"Grüße, 世界 \\u0000"}',
};
export const bad: Answer = {
  status: 400,
  headers: { 'content-type': 'application/json' },
  body: '{"error":"no"}',
};

export function fingerprintOf(number: number): Uint8Array {
  const bytes = new Uint8Array(32).fill(7);
  new DataView(bytes.buffer).setUint32(0, number);
  return bytes;
}

let runs = 0;
let tokens = 0;

export function newToken(): string {
  tokens += 1;
  return `token-${tokens}`;
}

export function newRun(): string {
  runs += 1;
  return `run-${runs}`;
}

export async function openBench(
  subject: LedgerSubject,
  options: Pick<LedgerOptions, 'keep'> = {},
): Promise<Bench> {
  const clock = { time: 1_000, now: () => clock.time };
  const ledger = await subject.open({ clock, ...options });
  const join = (run = newRun()) => ledger.join({ run, host: 'here', pid: 1 });
  const me = await join();
  const account = await ledger.account({ provider: 'openai', hash: new Uint8Array(32) });
  const queue = await ledger.queue({
    account,
    provider: 'openai',
    base: 'https://api.openai.com/v1',
    endpoint: '/v1/chat/completions',
    model: 'gpt-4o-mini',
    batchHeaders: {},
  });
  const bench: Bench = {
    ledger,
    me,
    queue,
    clock,
    join,
    async ask(number, { owner = me, ...more } = {}) {
      const fingerprint = fingerprintOf(number);
      const ask = { fingerprint, occurrence: 0, queue, cache: true, ...more };
      return (await ledger.admit(owner, [ask]))[0]!;
    },
    async send(numbers, owner = me) {
      const asks = numbers.map((number) => ({
        fingerprint: fingerprintOf(number),
        occurrence: 0,
        queue,
        cache: true,
      }));
      const requests = (await ledger.admit(owner, asks)).map(({ request }) => request);
      const lease = await ledger.plan(owner, { token: newToken(), queue, tags: {} }, requests);
      await ledger.creating(lease, { fileId: 'file-1' }, { alone: false });
      await ledger.accepted(lease, { id: `remote-${lease.batch}`, raw: 'validating' });
      return { lease, requests };
    },
    async settle(number, answer = good, owner = me) {
      const { request } = await bench.ask(number, { owner });
      await ledger.settled(owner, [{ request, is: 'answer', answer }]);
      return request;
    },
  };
  return bench;
}

/** A batch with a name and a tag, of which two of three requests are answered and have cost a dollar. */
export async function settleWithCosts({ ledger, me, queue, ask }: Bench): Promise<void> {
  const requests: RequestId[] = [];
  for (const fingerprint of [71, 72, 73]) requests.push((await ask(fingerprint)).request);
  const batch = { token: newToken(), queue, name: 'nightly', tags: { a: '1' }, estimate: 4.5 };
  const lease = await ledger.plan(me, batch, requests);
  await ledger.creating(lease, {}, { alone: false });
  await ledger.accepted(lease, { id: `remote-${lease.batch}`, raw: 'running' });
  const cost = { inputTokens: 100, outputTokens: 10, paid: 0.5, saved: 0.25 };
  const answered = requests.slice(0, 2);
  await ledger.collected(
    lease,
    answered.map((request) => ({ request, is: 'answer', answer: good, cost }) as const),
  );
  await ledger.ended(lease);
}

/** Every write under the lease is refused. */
export async function expectStale(ledger: Ledger, lease: Lease, request: RequestId): Promise<void> {
  const remote = { id: 'batch_1', raw: 'completed' };
  const writes = [
    () => ledger.staged(lease, {}),
    () => ledger.creating(lease, {}, { alone: false }),
    () => ledger.accepted(lease, remote),
    () => ledger.refused(lease, 'no'),
    () => ledger.released(lease),
    () => ledger.polled([{ lease, remote }]),
    () => ledger.collected(lease, [{ request, is: 'answer', answer: good }]),
    () => ledger.ended(lease),
    () => ledger.giveBack(lease),
  ];
  for (const write of writes) await expect(write()).rejects.toThrow(LeaseLostError);
}
