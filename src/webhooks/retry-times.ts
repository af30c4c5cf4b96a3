const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** The pauses after failed attempts that Standard Webhooks recommends; a message is too old before the last is over. */
const pauses = [
  ...[5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour],
  ...[10 * hour, 14 * hour, 20 * hour, 24 * hour],
];
/** A receiver may ask for a longer pause, but not for ever. */
const longestAsked = 24 * hour;

/**
 * Milliseconds until the next attempt, after so many; `undefined`: there is none. A tenth of it is chance, so that
 * messages which failed together do not come together.
 */
export function pauseAfter(attempt: number, asked = 0, random = Math.random): number | undefined {
  const usual = pauses[attempt - 1];
  if (usual === undefined) return undefined;
  return Math.max(Math.min(asked, longestAsked), Math.round(usual * (0.95 + random() / 10)));
}
