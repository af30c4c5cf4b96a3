import type {
  BatchlingEvents,
  CallFacts,
  EmittedEvents,
  EmittedName,
} from '../orchestrator/events/events.ts';
import type { OrdinaryLane } from '../orchestrator/model/call.ts';

/** What became of the calls to one model. */
export interface QueueCounts {
  readonly provider: string;
  readonly model: string;
  /** The way of all of its calls, as far as none of them has come by a batch. */
  readonly lane?: OrdinaryLane;
  readonly captured: number;
  /** Answered with a status below 400. */
  readonly good: number;
  /** Answered with an error. */
  readonly failed: number;
}

/** Answers that callers have of one batch. */
export interface BatchAnswers {
  readonly batch: string;
  readonly good: number;
  readonly failed: number;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/**
 * Counts the events that come for each call, so that a display looks at numbers and not at calls. One
 * row stands for a provider and a model, whatever their endpoints, accounts and lanes.
 */
export class CallCounts {
  readonly #queues = new Map<string, Mutable<QueueCounts>>();
  readonly #batches = new Map<string, Mutable<BatchAnswers>>();
  readonly #changedQueues = new Set<QueueCounts>();
  readonly #changedBatches = new Set<BatchAnswers>();

  get queues(): ReadonlyMap<string, QueueCounts> {
    return this.#queues;
  }

  get batches(): ReadonlyMap<string, BatchAnswers> {
    return this.#batches;
  }

  /** Whether the event is one that is counted. */
  event<Name extends EmittedName>(name: Name, event: EmittedEvents[Name]): boolean {
    if (name === 'call:captured') this.#queue(event as CallFacts).captured += 1;
    else if (name === 'call:answered') this.#answered(event as BatchlingEvents['call:answered']);
    else return false;
    return true;
  }

  /** The rows that have changed since this was last asked. */
  takeChanges(): { readonly queues: QueueCounts[]; readonly batches: BatchAnswers[] } {
    const changes = { queues: [...this.#changedQueues], batches: [...this.#changedBatches] };
    this.#changedQueues.clear();
    this.#changedBatches.clear();
    return changes;
  }

  /** Numbers that another process has counted; they replace its earlier ones. */
  set(queues: readonly QueueCounts[], batches: readonly BatchAnswers[]): void {
    for (const counts of queues) this.#queues.set(rowName(counts), { ...counts });
    for (const answers of batches) this.#batches.set(answers.batch, { ...answers });
  }

  #answered(event: BatchlingEvents['call:answered']): void {
    const outcome = event.status < 400 ? 'good' : 'failed';
    const counts = this.#queue(event);
    counts[outcome] += 1;
    const { batch } = event;
    if (batch === undefined || event.source !== 'batch') return;
    // A model without such a tier is batched.
    delete counts.lane;
    let answers = this.#batches.get(batch);
    if (answers === undefined) {
      answers = { batch, good: 0, failed: 0 };
      this.#batches.set(batch, answers);
    }
    answers[outcome] += 1;
    this.#changedBatches.add(answers);
  }

  #queue(facts: CallFacts): Mutable<QueueCounts> {
    const name = rowName(facts);
    let counts = this.#queues.get(name);
    if (counts === undefined) {
      const { provider, model, lane } = facts;
      counts = { provider, model, ...(lane && { lane }), captured: 0, good: 0, failed: 0 };
      this.#queues.set(name, counts);
    } else if (counts.lane !== facts.lane) {
      delete counts.lane;
    }
    this.#changedQueues.add(counts);
    return counts;
  }
}

/** What a row of the live display is called. */
export function rowName({ provider, model }: Pick<CallFacts, 'provider' | 'model'>): string {
  return `${provider} ${model}`;
}
