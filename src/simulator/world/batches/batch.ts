import type { JsonObject } from '../../server/json.ts';
import type { SimulatorSettings } from '../settings.ts';
import type { BatchError, BatchScript } from './batch-script.ts';

/** The stretches of a batch's life, in the words most providers use. */
export type Phase = 'validating' | 'in_progress' | 'finalizing' | 'cancelling' | 'ended';

export type Ending = 'completed' | 'failed' | 'expired' | 'cancelled';

export interface BatchLine {
  customId: string;
  endpoint: string;
  body: JsonObject;
}

/** How one line of a batch came out, before a provider gives it its shape. */
export type Outcome =
  | { kind: 'answered'; body: unknown }
  | Refused
  | { kind: 'empty' | 'unstated' | 'expired' | 'canceled' };

export interface Refused {
  kind: 'refused';
  status: number;
  message: string;
  type?: string;
  code?: string;
  param?: string;
  headers?: Record<string, string>;
  /** The whole error body, where it was given. */
  body?: unknown;
}

export interface BatchCounts {
  succeeded: number;
  errored: number;
  expired: number;
  canceled: number;
}

/** One batch, whatever its provider; `details` is what only its provider knows. */
export interface Batch<Details = unknown> {
  id: string;
  account: string;
  foreign: boolean;
  script: BatchScript;
  details: Details;
  createdAt: number;
  /** Lists show it from this time on. */
  listedAt: number;
  phase: Phase;
  ending: Ending | null;
  /** When each phase and the ending were reached, in milliseconds. */
  reachedAt: Partial<Record<Phase | Ending, number>>;
  /** 0 until the lines are known, and again when the batch fails as a whole. */
  total: number;
  /** How many requests came in, once that is known. */
  requests: number;
  lines: BatchLine[];
  counts: BatchCounts;
  errors: BatchError[];
  tokens: { input: number; output: number };
  /** Result lines, those with an answer and those without. */
  results: { answered: string[]; failed: string[] };
  /** How often it was shown since it ended. */
  shown: number;
  cancel: Cancellation;
}

export interface Cancellation {
  readonly requested: boolean;
  readonly whenRequested: Promise<void>;
  request(): void;
}

export interface BatchOptions<Details> {
  id: string;
  account: string;
  details: Details;
  now: number;
  listLag: number;
  foreign: boolean;
  script: BatchScript;
  total: number;
  requests: number;
}

export function createBatch<Details>(options: BatchOptions<Details>): Batch<Details> {
  const { id, account, details, now, listLag, foreign, script, total, requests } = options;
  return {
    id,
    account,
    foreign,
    script,
    details,
    createdAt: now,
    listedAt: now + listLag,
    phase: 'validating',
    ending: null,
    reachedAt: { validating: now },
    total,
    requests,
    lines: [],
    counts: { succeeded: 0, errored: 0, expired: 0, canceled: 0 },
    errors: [],
    tokens: { input: 0, output: 0 },
    results: { answered: [], failed: [] },
    shown: 0,
    cancel: createCancellation(),
  };
}

/** Whether the batch, about to be shown, says where its results are. Some say it only later. */
export function namesResults(batch: Batch): boolean {
  if (batch.phase !== 'ended') return false;
  batch.shown += 1;
  return batch.shown > (batch.script.lateFiles ?? 0);
}

function createCancellation(): Cancellation {
  let requested = false;
  let resolve = () => {};
  const whenRequested = new Promise<void>((settle) => {
    resolve = settle;
  });
  return {
    get requested() {
      return requested;
    },
    whenRequested,
    request() {
      requested = true;
      resolve();
    },
  };
}

/** The batches of one provider, oldest first. */
export class BatchStore<Details = unknown> {
  readonly #batches = new Map<string, Batch<Details>>();

  add(batch: Batch<Details>): void {
    this.#batches.set(batch.id, batch);
  }

  /** Another account's batch does not exist for this one. */
  find(id: string, account: string): Batch<Details> | undefined {
    const batch = this.#batches.get(id);
    return batch?.account === account && !batch.script.forgotten ? batch : undefined;
  }

  remove(id: string): void {
    this.#batches.delete(id);
  }

  all(): Batch<Details>[] {
    return [...this.#batches.values()];
  }

  /** Newest first, as providers list them, unless told otherwise. */
  listed(account: string, now: number, { oldestFirst }: SimulatorSettings): Batch<Details>[] {
    const listed = this.all()
      .filter((batch) => batch.account === account && batch.listedAt <= now)
      .filter((batch) => !batch.script.forgotten);
    return oldestFirst ? listed : listed.reverse();
  }
}
