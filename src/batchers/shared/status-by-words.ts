/** Looked at in this order: "overloaded" decides before "invalid" does. */
const words: readonly (readonly [RegExp, number])[] = [
  [/overload|unavailable|capacity|try again|temporar/i, 503],
  [/rate.?limit|too many requests|exhausted/i, 429],
  [/unauthenticated|unauthori[sz]ed|api key/i, 401],
  [/permission|forbidden/i, 403],
  [/not.?found|does not exist/i, 404],
  [/\bconflict\b/i, 409],
  [/entity too large|payload too large/i, 413],
  [/unprocessable/i, 422],
  [
    /bad request|invalid|must be|not supported|unsupported|required|failed to download|too (long|large)/i,
    400,
  ],
];

/**
 * A status for an error that comes without one. What is not understood may be the service's own fault: 500,
 * which is tried again.
 *
 * @example
 * statusByWords('Too Many Requests'); // 429
 */
export function statusByWords(message: string): number {
  return words.find(([pattern]) => pattern.test(message))?.[1] ?? 500;
}
