const warned = new Set<string>();

/** A Node warning, once per topic; `--no-warnings` silences it. */
export function warnOnce(message: string, topic = message): void {
  if (warned.has(topic)) return;
  warned.add(topic);
  process.emitWarning(message, { type: 'BatchlingWarning' });
}
