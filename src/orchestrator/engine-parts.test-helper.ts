import { ManualClock } from '../../test/support/clocks/manual-clock.ts';
import { OpenAIBatcher } from '../batchers/openai/openai-batcher.ts';
import { BackgroundWork } from '../concurrency/background-work.ts';
import { createHttpClient } from '../http/client.ts';
import { openMemoryLedger } from '../ledger/memory/memory-ledger.ts';
import { Mailbox } from '../webhooks/mailbox.ts';
import { AbandonedRequests } from './capture/abandoned-requests.ts';
import { Account } from './capture/accounts.ts';
import { ClientRetries } from './capture/client-retries.ts';
import { Spool } from './capture/spool.ts';
import { Troubles } from './events/troubles.ts';
import { Batch } from './model/batch.ts';
import type { CapturedCall, EngineScope, Verdict } from './model/call.ts';
import { Caller, type Departures } from './model/caller.ts';
import type { EngineContext } from './model/engine-context.ts';
import { Request } from './model/request.ts';
import { Queue } from './queue/queue.ts';

const hash = new Uint8Array(32);
const base = 'https://api.openai.com/v1';
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

/** What a module of the engine is tried with by itself: a ledger in memory, a clock by hand, a queue of OpenAI. */
export async function engineParts() {
  const clock = new ManualClock();
  const ledger = await openMemoryLedger();
  const owner = await ledger.join({ run: 'run', host: 'here', pid: 1 });
  const batcher = new OpenAIBatcher();
  const id = await ledger.account({ provider: 'openai', hash });
  const http = createHttpClient({ clock });
  const account = new Account({ id, hash }, {}, base, http);
  const route = { endpoint: '/v1/chat/completions', model: 'm', batchHeaders: {} };
  const queueId = await ledger.queue({ account: id, provider: 'openai', base, ...route });
  const policy = {
    lane: 'batch' as const,
    window: 100,
    maxWindow: 1_000,
    batchSize: undefined,
    completionWindow: 86_400_000,
    attempts: 3,
  };
  const work = new BackgroundWork();
  const verdicts = new Map<string, Verdict>();
  const context: EngineContext = {
    ledger,
    owner: { id: owner, run: (as) => as(owner) },
    clock,
    logger: quiet,
    purse: () => undefined,
    batches: new Map(),
    stopped: new AbortController().signal,
    troubles: new Troubles(clock, quiet, () => undefined),
    mailbox: new Mailbox({
      outbox: ledger.outbox,
      salt: ledger.salt,
      clock,
      logger: quiet,
      warn: () => undefined,
    }),
    report: () => undefined,
    background: (_what, done) => work.add(done, () => undefined),
  };
  const queue = new Queue(
    {
      ...route,
      id: queueId,
      batcher,
      account,
      wire: account.wire(batcher),
      isConfigured: false,
      lane: 'batch',
      lacks: undefined,
      sendOrdinary: () => undefined,
      settings: {},
      policy,
      bodies: new Spool(ledger),
      clientRetries: new ClientRetries(clock, new AbandonedRequests()),
      gate: undefined,
    },
    clock,
    () => undefined,
  );

  function scopeWith(more: Partial<EngineScope> = {}): EngineScope {
    const told = { emit: () => undefined, notify: () => undefined };
    const settings = () => ({});
    return {
      policy,
      tags: {},
      settings,
      onDeadline: 'error',
      onSlow: 'wait',
      cleanup: false,
      ...told,
      ...more,
    } as EngineScope;
  }

  /** A call that waits, whose verdict is noted under its name. */
  function callerOf(name: string, scope = scopeWith()): Caller {
    const settle = (verdict: Verdict) => verdicts.set(name, verdict);
    const call = { scope, settled: false, settle } as unknown as CapturedCall;
    return new Caller(call, {} as Departures);
  }

  /** A request that is ours to send, with one call that waits for it. */
  async function request(name: string, scope = scopeWith()): Promise<Request> {
    const fingerprint = Buffer.alloc(32, name);
    const expects = { outputLimit: 1, answers: 1 };
    const caller = callerOf(name, scope);
    const made = new Request(queue, fingerprint.toString('latin1'), '{}', expects, caller);
    const ask = { fingerprint, occurrence: 0, queue: queueId, cache: false };
    const [admission] = await ledger.admit(owner, [ask]);
    if (admission) made.admitted(admission, owner);
    made.becomeOurs(0);
    return made;
  }

  /** A batch of these requests that is in the ledger, and not sent yet. */
  async function planned(requests: readonly Request[]): Promise<Batch> {
    const token = `bl_${requests.map(({ row }) => row).join('_')}`;
    const rows = requests.map(({ row }) => row);
    const lease = await ledger.plan(owner, { token, queue: queueId, tags: {} }, rows);
    const batch = new Batch(token, queue, lease);
    for (const one of requests) {
      one.beginPlan();
      batch.add(one);
      one.enterBatch(batch);
    }
    context.batches.set(lease.batch, batch);
    return batch;
  }

  /** The status that a call was answered with, or the name of its other verdict. */
  function told(name: string): number | string | undefined {
    const verdict = verdicts.get(name);
    if (verdict === undefined) return undefined;
    return 'answer' in verdict ? verdict.answer.status : Object.keys(verdict)[0];
  }

  return { clock, context, http, queue, work, scopeWith, callerOf, request, planned, told };
}

export type EngineParts = Awaited<ReturnType<typeof engineParts>>;
