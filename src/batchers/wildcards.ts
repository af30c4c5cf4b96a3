/**
 * Whether a text is one of `patterns`. `*` in a pattern stands for one or more characters, none of which
 * is `boundary`: a slash in paths, a dot in hosts, nothing in names of models.
 */
export function wildcards(
  patterns: readonly string[],
  boundary: Boundary,
): (text: string) => boolean {
  const exact = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const expressions = patterns
    .filter((pattern) => pattern.includes('*'))
    .map((pattern) => new RegExp(`^${wildcardSource(pattern, boundary)}$`));
  return (text) => exact.has(text) || expressions.some((expression) => expression.test(text));
}

type Boundary = '/' | '.' | '';

/** Such a pattern as the source of a regular expression. */
export function wildcardSource(pattern: string, boundary: Boundary): string {
  const pieces = pattern.split('*').map((piece) => piece.replace(/[\\^$.+?()[\]{}|/]/g, '\\$&'));
  return pieces.join(`[^${boundary}]+`);
}
