import { type EmittedEvents, type EmittedName, noAnswer, onTheWire } from '../events/events.ts';

/** What a scope has done so far: the sum of its events. */
export interface Stats {
  /** Each of them is answered in the end, or rejected. */
  readonly captured: number;
  readonly answered: number;
  readonly fromLedger: number;
  /** Calls that went out at full price as ours. */
  readonly realtime: number;
  /** Calls that the provider's half-price tier has answered, or that asked for it. */
  readonly flex: number;
  /** Calls that could not be batched. They are not captured, and what they cost is not known. */
  readonly bypassed: number;
  /** How many of these were not sent: `bypass` is `"error"`, or it is a dry run. */
  readonly heldBack: number;
  readonly retried: number;
  /**
   * Ordinary calls of ours that were sent again although nobody knows what became of the call before: its connection
   * was lost, or its run was killed.
   */
  readonly maybePaidTwice: number;
  /** Calls that were answered with an error. */
  readonly failed: number;
  readonly batches: {
    readonly submitted: number;
    /** Batches that were slow, whatever became of them. */
    readonly slow: number;
    readonly ended: number;
    readonly collected: number;
  };
  /**
   * Tokens of batched and realtime answers that name them; answers of the ledger add nothing. `cacheRead` and
   * `cacheWrite` are parts of `input`: what came out of the provider's prompt cache, and what went in.
   */
  readonly tokens: {
    readonly input: number;
    readonly output: number;
    readonly cacheRead: number;
    readonly cacheWrite: number;
  };
  /**
   * Dollars of the same answers, at list prices and batch discounts; 0 for models without a known price.
   * `realtime` and `flex` are the parts of `paid` that calls of these lanes cost.
   */
  readonly dollars: {
    readonly paid: number;
    readonly saved: number;
    readonly realtime: number;
    readonly flex: number;
  };
  /** How many bypasses have which reason. After twenty reasons, further ones count as `other`. */
  readonly bypassReasons: Readonly<Record<string, number>>;
  /** How many failed calls have which status and error code; as many as of bypasses. */
  readonly failures: Readonly<Record<string, number>>;
  /** Answers with tokens, by models without a known price; their dollars are missing. */
  readonly unpriced: Readonly<Record<string, number>>;
}

/** The reason of bypasses that the option `only` asks for. */
export const leftOutReason = 'left out by `only`';

/** A name may be a text of a provider's: however many there are, they take little memory. */
const mostNames = 20;

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] extends number ? number : Mutable<T[Key]> };

export type MutableStats = Mutable<Stats>;

export function emptyStats(): MutableStats {
  return {
    captured: 0,
    answered: 0,
    fromLedger: 0,
    realtime: 0,
    flex: 0,
    bypassed: 0,
    heldBack: 0,
    retried: 0,
    maybePaidTwice: 0,
    failed: 0,
    batches: { submitted: 0, slow: 0, ended: 0, collected: 0 },
    tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    dollars: { paid: 0, saved: 0, realtime: 0, flex: 0 },
    bypassReasons: {},
    failures: {},
    unpriced: {},
  };
}

type Sums = {
  readonly [Name in EmittedName]?: (stats: MutableStats, event: EmittedEvents[Name]) => void;
};

const sums: Sums = {
  'call:captured': (stats) => {
    stats.captured += 1;
  },
  'call:answered': (stats, event) => {
    stats.answered += 1;
    if (event.source === 'ledger') stats.fromLedger += 1;
    if (event.source === 'realtime' || event.source === 'flex') {
      stats[event.source] += 1;
      stats.dollars[event.source] += event.dollars?.paid ?? 0;
    }
    if (event.status >= 400) {
      stats.failed += 1;
      const name = event.error === undefined ? `${event.status}` : `${event.status} ${event.error}`;
      tally(stats.failures, name);
    }
    if (event.inputTokens !== undefined && event.dollars === undefined) {
      tally(stats.unpriced, event.model);
    }
    stats.tokens.input += event.inputTokens ?? 0;
    stats.tokens.output += event.outputTokens ?? 0;
    stats.tokens.cacheRead += event.cacheReadTokens ?? 0;
    stats.tokens.cacheWrite += event.cacheWriteTokens ?? 0;
    stats.dollars.paid += event.dollars?.paid ?? 0;
    stats.dollars.saved += event.dollars?.saved ?? 0;
  },
  'call:bypassed': (stats, { reason, sent }) => {
    stats.bypassed += 1;
    if (!sent) stats.heldBack += 1;
    tally(stats.bypassReasons, reason);
  },
  'batch:submitted': (stats) => {
    stats.batches.submitted += 1;
  },
  'batch:slow': (stats, { previous }) => {
    if (previous === undefined) stats.batches.slow += 1;
  },
  'batch:ended': (stats) => {
    stats.batches.ended += 1;
  },
  'batch:collected': (stats) => {
    stats.batches.collected += 1;
  },
  'request:retried': (stats, { reason }) => {
    stats.retried += 1;
    if (reason === onTheWire || reason === noAnswer) stats.maybePaidTwice += 1;
  },
};

function tally(counts: Record<string, number>, name: string): void {
  const isKnown = Object.hasOwn(counts, name) || Object.keys(counts).length < mostNames;
  const counted = isKnown ? name : 'other';
  counts[counted] = (Object.hasOwn(counts, counted) ? (counts[counted] as number) : 0) + 1;
}

export function addToStats<Name extends EmittedName>(
  stats: MutableStats,
  name: Name,
  event: EmittedEvents[Name],
): void {
  sums[name]?.(stats, event);
}

/** Adds what another scope has done. */
export function addStats(sum: MutableStats, stats: Stats): void {
  addNumbers(sum as unknown as Numbers, stats as unknown as Numbers);
}

interface Numbers {
  [name: string]: number | Numbers;
}

function addNumbers(sum: Numbers, added: Numbers): void {
  for (const [name, value] of Object.entries(added)) {
    const before = sum[name];
    if (typeof value === 'number') sum[name] = Number(before ?? 0) + value;
    else addNumbers(before as Numbers, value);
  }
}
