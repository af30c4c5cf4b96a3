import type { BatchAnswers, CallCounts, QueueCounts } from '../call-counts.ts';

/** The counts that differ from those that were taken last. */
export class Changes {
  readonly #counts: CallCounts;
  readonly #queues = new Map<string, QueueCounts>();
  readonly #batches = new Map<string, BatchAnswers>();

  constructor(counts: CallCounts) {
    this.#counts = counts;
  }

  take(): { queues: QueueCounts[]; batches: BatchAnswers[] } {
    const queues = changed(this.#counts.queues, this.#queues);
    const batches = changed(this.#counts.batches, this.#batches);
    return { queues, batches };
  }
}

function changed<Counts extends object>(
  now: ReadonlyMap<string, Counts>,
  before: Map<string, Counts>,
): Counts[] {
  const list: Counts[] = [];
  for (const [name, counts] of now) {
    if (isSame(counts, before.get(name))) continue;
    const copy = { ...counts };
    before.set(name, copy);
    list.push(copy);
  }
  return list;
}

function isSame(one: object, other: object | undefined): boolean {
  if (other === undefined) return false;
  const values = Object.values(other);
  return Object.values(one).every((value, at) => value === values[at]);
}
