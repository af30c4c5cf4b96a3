/** What tells a client, before its answer is there, that the connection is alive. */
export const heartbeatKinds = ['102', '100', 'none'] as const;

export type HeartbeatKind = (typeof heartbeatKinds)[number];

/**
 * What clients accept was tried with each of them, see docs/gateway.md: Python's http.client takes a 102 for
 * the answer itself and skips a 100, undici closes the connection at a 100 and skips a 102.
 */
const byClient: readonly (readonly [userAgent: RegExp, kind: HeartbeatKind])[] = [
  [/^python-(urllib|requests)\b|\bpython-urllib3\b/i, '100'],
  [/^(node|undici|axios|got|curl|node-fetch|ky|superagent)\b/i, '102'],
  [/^(openai|anthropic|groq|together)\/js\b/i, '102'],
  [/\bai-sdk\//i, '102'],
  [/^python-httpx\b|^(async)?(openai|anthropic)\/python\b/i, '102'],
];

/** A client that nobody has tried gets none: an answer that is not understood is worse than silence. */
export function heartbeatKind(userAgent: string | undefined): HeartbeatKind {
  const known = byClient.find(([pattern]) => pattern.test(userAgent ?? ''));
  return known?.[1] ?? 'none';
}
