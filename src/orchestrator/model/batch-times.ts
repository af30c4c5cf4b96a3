import type { BatchTime } from '../../ledger/ledger.ts';

/** How long batches of a model usually take. */
export interface TypicalTime {
  readonly provider: string;
  readonly model: string;
  /** Milliseconds. */
  readonly duration: number;
}

/**
 * - `slow`: it takes far longer than batches of its model and size used to, and there is no other to compare it with.
 * - `stuck`: batches of its model that were sent with it or later have ended.
 * - `provider`: others of its model are under way for long, too, and none has ended.
 */
export type SlowKind = 'slow' | 'stuck' | 'provider';

export interface Slowness {
  readonly kind: SlowKind;
  /** Milliseconds since the provider accepted it. */
  readonly age: number;
  /** Nine of ten batches of its model and size took at most so many milliseconds. */
  readonly usual: number;
}

const minute = 60_000;
/** A batch is never called slow before this age: most are done by then. */
export const leastSlow = 60 * minute;
const timesUsual = 3;
/** Fewer batches of a size say nothing about what is usual. */
const fewestKnown = 3;
/** Batches of one run are sent one after another, within so many milliseconds. */
const sentTogether = minute;

/** The median duration of past batches, for each provider and model. */
export function typicalTimes(times: readonly BatchTime[]): TypicalTime[] {
  const models = new Map<string, BatchTime[]>();
  for (const time of times) {
    const name = `${time.provider} ${time.model}`;
    models.set(name, [...(models.get(name) ?? []), time]);
  }
  return [...models.values()].flatMap((some) => {
    const { provider, model } = some[0] as BatchTime;
    const duration = percentile(durationsOf(some), 0.5);
    return duration === undefined ? [] : { provider, model, duration };
  });
}

/** Whether a batch under way is slow. `times`: of the newest batches of its model. */
export function slownessOf(
  batch: Pick<BatchTime, 'token' | 'count' | 'age'>,
  times: readonly BatchTime[],
): Slowness | undefined {
  const others = times.filter(({ token }) => token !== batch.token);
  const alike = durationsOf(others.filter(({ count }) => sizeOf(count) === sizeOf(batch.count)));
  const usual = alike.length < fewestKnown ? undefined : percentile(alike, 0.9);
  const { age } = batch;
  if (usual === undefined || age < Math.max(timesUsual * usual, leastSlow)) return undefined;
  return { kind: kindOf(age, others), age: Math.round(age), usual: Math.round(usual) };
}

function kindOf(age: number, others: readonly BatchTime[]): SlowKind {
  let isAnotherLate = false;
  for (const other of others) {
    if (other.duration === undefined) {
      isAnotherLate ||= other.age >= leastSlow;
    } else if (other.age < age + sentTogether && other.age - other.duration < age) {
      return 'stuck';
    }
  }
  return isAnotherLate ? 'provider' : 'slow';
}

/** A class of sizes: up to 9 requests, up to 99, up to 999 and so on. */
function sizeOf(count: number): number {
  return String(count).length;
}

function durationsOf(times: readonly BatchTime[]): number[] {
  // None is as short as nothing: the clock was set back meanwhile.
  return times.flatMap(({ duration = 0 }) => (duration > 0 ? duration : []));
}

/** The smallest value that so large a share of them does not exceed. */
function percentile(values: readonly number[], share: number): number | undefined {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.ceil(share * sorted.length) - 1];
}
