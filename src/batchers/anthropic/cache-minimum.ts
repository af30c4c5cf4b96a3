/**
 * The shortest prompt that Claude caches, in tokens; a shorter one is silently not cached. A model that is not
 * named here may need as many as any does.
 */
export function cacheMinimum(model: string): number {
  if (/-5-5\b/.test(model)) return 512;
  if (/claude-(sonnet-4|opus-4)(-[015])?(-\d{8}|$)/.test(model)) return 1_024;
  return 4_096;
}
