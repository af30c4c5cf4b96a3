const warned = new Set<string>();

/** A warning of Node's own kind: on stderr, once per topic, and `--no-warnings` silences it. */
export function warnOnce(message: string, topic = message): void {
  if (warned.has(topic)) return;
  warned.add(topic);
  process.emitWarning(message, { type: 'BatchlingWarning' });
}
