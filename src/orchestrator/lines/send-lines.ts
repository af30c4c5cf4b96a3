import { nextTurn } from '../../concurrency/event-loop.ts';
import type { Admission, OwnerId, RequestId } from '../../ledger/ledger.ts';
import { estimateInput } from '../../pricing/token-estimate.ts';
import type { Accounts } from '../capture/accounts.ts';
import { bytesOf } from '../capture/fingerprint.ts';
import { type LeftBatch, leftBatch } from '../capture/leave-calls.ts';
import { headersOf } from '../capture/prepare.ts';
import { labelsOf } from '../events/batch-labels.ts';
import { factsOf, tell } from '../events/events.ts';
import type { Batch } from '../model/batch.ts';
import type { EngineScope } from '../model/call.ts';
import type { EngineContext } from '../model/engine-context.ts';
import { itemId } from '../model/request.ts';
import type { Queue } from '../queue/queue.ts';
import type { Queues } from '../queue/queues.ts';
import type { BatchLife } from '../submit/batch-life.ts';
import type { Budgets } from '../submit/budgets.ts';
import { enterBatches, newBatch, startOf } from '../submit/new-batch.ts';
import { packFor } from '../submit/packer.ts';
import type { Permits } from '../submit/permit.ts';
import { planOfLines } from '../submit/plan.ts';
import type { SubmitProtocol } from '../submit/submit-protocol.ts';
import type { TokenQuota } from '../submit/token-quota.ts';
import { KeptAnswers, type KeptRoom } from './kept-answers.ts';
import type { Line, LineGroup, QueueLines } from './line-group.ts';

/** The most rows of one ledger transaction. */
const admitAtOnce = 1_000;
/** Lines that are encoded at once. */
const linesPerChunk = 500;
/** Batches of lines that are collected at once before the next lines wait for them. */
const mostCollecting = 2;
/** Lines of batches under way that stay in memory; those of others are read from the ledger again. */
const mostKept = 30_000;

interface LineServices {
  readonly accounts: Accounts;
  readonly queues: Queues;
  readonly permits: Permits;
  readonly budgets: Budgets;
  readonly protocol: SubmitProtocol;
  readonly life: BatchLife;
  /** The ledger keeps what was asked: every body is written down, which is done for calls. */
  readonly keepsBodies: boolean;
  /** Whether lines of this kind need nobody to go ahead of them any more. */
  isOpen(queue: Queue, kind: string): boolean;
}

/** What became of lines that were to be sent together, by their places. */
export interface SentLines {
  /** The row of each place in the ledger; 0: it was not admitted, or others have it under way. */
  readonly rows: Float64Array;
  /** Places whose answers the ledger has. */
  readonly answered: number[];
  /** Places that are in none of these, and have no answer, have to be asked as calls. */
  readonly batches: LineBatch[];
}

/** Lines on their way into a batch. */
export interface LineBatch {
  readonly places: Uint32Array;
  /** Resolves when it is under way, or over already. `undefined`: it was not sent, and its lines have to be asked as calls. */
  readonly left: Promise<LeftBatch | undefined>;
  /** Some of its answers, or all, once it is over. */
  readonly answers: KeptAnswers;
}

interface Sending {
  readonly queue: Queue;
  readonly quota: TokenQuota;
  readonly scope: EngineScope;
  readonly admittedBy: OwnerId;
  readonly answers: KeptAnswers;
}

/**
 * The way of lines of a job that are like most lines: new, of a kind that is known to be answered, and meant for a batch.
 * They are admitted and planned together, without a call, a caller and a request for each. Whatever else happens to them, before
 * or after their batch is sent, their job asks for them as calls, and the rest of the engine knows what to do.
 */
export class LineSender {
  readonly #context: EngineContext;
  readonly #services: LineServices;
  readonly #keptRoom: KeptRoom = { characters: 0 };
  #kept = 0;

  constructor(context: EngineContext, services: LineServices) {
    this.#context = context;
    this.#services = services;
  }

  async send(group: LineGroup): Promise<SentLines> {
    const sent: SentLines = { rows: new Float64Array(group.size), answered: [], batches: [] };
    if (this.#services.keepsBodies) return sent;
    for (const some of group.queues) {
      const queue = await this.#queueFor(group, some);
      if (queue) await this.#admit(queue, group.scope, some, sent);
    }
    return sent;
  }

  /** `undefined`: its lines are not sent in this way. */
  async #queueFor(
    { scope, headers }: LineGroup,
    { target, route, lines, kinds }: QueueLines,
  ): Promise<Queue | undefined> {
    const { accounts, queues, isOpen } = this.#services;
    if (!isOrdinary(scope, lines.length)) return undefined;
    const call = { scope, target, headers };
    const account = await accounts.open(headersOf(call), target.batcher, target.wireBase);
    const queue = queues.known(call, route, account) ?? (await queues.open(call, route, account));
    if (queue.lane !== 'batch' || account.unserved !== undefined) return undefined;
    return [...kinds].every((kind) => isOpen(queue, kind)) ? queue : undefined;
  }

  async #admit(
    queue: Queue,
    scope: EngineScope,
    { lines }: QueueLines,
    { rows, answered, batches }: SentLines,
  ): Promise<void> {
    await this.#untilCollected();
    const { ledger, owner } = this.#context;
    const { cache } = scope;
    const admittedBy = owner.id;
    const ours: Line[] = [];
    for (let at = 0; at < lines.length; at += admitAtOnce) {
      const some = lines.slice(at, at + admitAtOnce);
      const asks = some.map(({ key, occurrence, fresh }) => {
        const asked = { fingerprint: bytesOf(key), occurrence, queue: queue.id };
        return { ...asked, cache: cache && !fresh };
      });
      const admissions = await owner.run((id) => ledger.admit(id, asks));
      some.forEach((line, index) => {
        const admission = admissions[index] as Admission;
        // What others have under way must not look as if it had been ours: asking for it again would take it out of its batch.
        if (admission.is !== 'wait') rows[line.place] = admission.request;
        if (admission.is === 'answered') answered.push(line.place);
        else if (isNew(admission)) {
          admitted(queue, line, admission.request);
          ours.push(line);
        }
      });
    }
    if (ours.length === 0) return;
    const quota = await this.#services.permits.quotaOf(queue);
    await nextTurn();
    for (const some of packFor(queue, ours, quota.limit).batches) {
      const answers = new KeptAnswers(this.#keptRoom);
      const sending = { queue, quota, scope, admittedBy, answers };
      batches.push({
        places: Uint32Array.from(some, ({ place }) => place),
        left: this.#send(some, sending),
        answers,
      });
    }
  }

  /** What has ended is collected before more is sent: its lines and answers are in memory until then. */
  async #untilCollected(): Promise<void> {
    for (;;) {
      const collecting = [...this.#context.batches.values()].filter(
        ({ isLeft, phase }) => isLeft && phase.name === 'collecting' && !phase.isUnreadable,
      );
      if (collecting.length < mostCollecting) return;
      // A batch may be read again later: then the others are waited for.
      await Promise.race(collecting.map(({ over, reading }) => Promise.race([over, reading])));
    }
  }

  /** Whatever goes wrong before there is a batch: calls that ask for the same are told. */
  async #send(
    lines: readonly Line[],
    { queue, quota, scope, admittedBy, answers }: Sending,
  ): Promise<LeftBatch | undefined> {
    const context = this.#context;
    const flushed = {
      ...factsOf(queue.batcher, queue),
      count: lines.length,
      reason: 'flush',
    } as const;
    tell(scope.emit, 'queue:flushed', flushed);
    const permit = this.#services.permits.newPermit(quota, {
      queue,
      tokens: lines.reduce((sum, { tokens }) => sum + tokens, 0),
      count: lines.length,
      first: undefined,
      scopes: () => [scope],
    });
    let batch: Batch | undefined;
    try {
      await permit.acquire(context.stopped);
      if (!permit.isTooMuch && context.owner.id === admittedBy) {
        batch = await this.#plan(queue, scope, lines);
      }
    } catch (error) {
      context.report('plan a batch of lines', error);
    } finally {
      if (batch === undefined) permit.release();
    }
    if (batch === undefined) return undefined;
    batch.onAnswer = (row, answer) => answers.add(row, answer);
    const bodies = async (some: readonly Line[]) => some.map(({ body }) => body);
    const plan = planOfLines(batch, lines, bodies, linesPerChunk);
    const sent = this.#services.protocol.send(batch, permit, plan);
    context.background('send a batch', this.#services.life.live(batch, permit, startOf(sent)));
    await batch.created;
    this.#keep(batch);
    return leftBatch(batch);
  }

  async #plan(queue: Queue, scope: EngineScope, lines: readonly Line[]): Promise<Batch> {
    const money = await this.#services.budgets.ofBatch(queue, lines, scope);
    const rows = lines.map(({ row }) => row);
    const batch = await newBatch(this.#context, queue, rows, { ...labelsOf([scope]), ...money });
    batch.addLines(lines, scope);
    enterBatches(this.#context, batch);
    return batch;
  }

  /** Lines of a batch that may have a twin are needed to tell the two apart. */
  #keep(batch: Batch): void {
    const { count } = batch;
    if (this.#kept + count > mostKept && !batch.mayHaveTwins) {
      batch.leaveLines();
      return;
    }
    this.#kept += count;
    void batch.over.then(() => {
      this.#kept -= count;
    });
  }
}

/** Everything else is a matter for single requests: their time, their company, another lane. */
function isOrdinary(
  { policy, deadline, minBatch, primeCache, only, onSlow }: EngineScope,
  count: number,
): boolean {
  const isPlain = !primeCache && only === undefined && onSlow === 'wait';
  return policy.lane === 'batch' && deadline === undefined && isPlain && count >= minBatch;
}

/** Nobody has tried it before. */
function isNew(admission: Admission): boolean {
  return admission.is === 'mine' && admission.attempt === undefined && !admission.sent;
}

function admitted(queue: Queue, line: Line, row: RequestId): void {
  const { key, body, occurrence, expects } = line;
  const bytes = Buffer.byteLength(body);
  const { tokens, audioTokens: inputAudioTokens } = estimateInput(body, bytes);
  line.row = row;
  line.id = itemId(bytesOf(key), occurrence);
  line.bytes = queue.itemBytes(bytes, occurrence);
  line.tokens = tokens;
  if (inputAudioTokens > 0) line.expects = { ...expects, inputAudioTokens };
}
