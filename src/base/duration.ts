const milliseconds = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type Unit = keyof typeof milliseconds;

/** The allowed forms, for messages. */
export const allowedDuration =
  'a number of milliseconds, or text such as "250ms", "2s", "5m", "24h", "30d"';

/** Milliseconds of `250`, `"250"`, `"250ms"`, `"1.5h"`, `"1m 30s"`. */
export function parseDuration(value: number | string): number {
  if (typeof value !== 'number' && typeof value !== 'string') {
    throw new TypeError(`A duration is ${allowedDuration}`);
  }
  const duration = typeof value === 'number' ? value : readDuration(value.trim());
  // Above the safe integers, adding to a time of day would lose milliseconds.
  if (!(duration >= 0 && duration <= Number.MAX_SAFE_INTEGER)) {
    throw new RangeError(`A duration is ${allowedDuration}, and not negative`);
  }
  return duration;
}

function readDuration(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Math.round(Number(text));
  const parts = text.split(/(?<=[a-z])\s*(?=\d)/);
  let total = 0;
  for (const part of parts) {
    const [, amount, unit] = /^(\d+(?:\.\d+)?) ?(ms|s|m|h|d)$/.exec(part) ?? [];
    if (amount === undefined || unit === undefined) return Number.NaN;
    total += Number(amount) * milliseconds[unit as Unit];
  }
  return Math.round(total);
}

/** `250ms`, `1.5s`, `1m 30s`, `24h`, `30d`: at most two units. */
export function formatDuration(duration: number): string {
  if (duration < 999.5) return `${Math.round(duration)}ms`;
  const tenths = Math.round(duration / 100);
  if (tenths < 600) return `${tenths / 10}s`;
  const seconds = Math.round(duration / 1000);
  if (seconds < 3600) return twoUnits(Math.floor(seconds / 60), 'm', seconds % 60, 's');
  const minutes = Math.round(seconds / 60);
  // Providers say "24h", so days begin at two.
  if (minutes < 48 * 60) return twoUnits(Math.floor(minutes / 60), 'h', minutes % 60, 'm');
  const hours = Math.round(minutes / 60);
  return twoUnits(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

function twoUnits(large: number, largeUnit: Unit, small: number, smallUnit: Unit): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit} ${small}${smallUnit}`;
}

/** The longest delay a Node timer can hold; beyond it, it would fire at once. */
export const longestTimer = 2_147_483_647;
