const warned = new Set<string>();

/** A warning of Node's own kind: on stderr, once per text, and `--no-warnings` silences it. */
export function warnOnce(message: string): void {
  if (warned.has(message)) return;
  warned.add(message);
  process.emitWarning(message, { type: 'BatchlingWarning' });
}
