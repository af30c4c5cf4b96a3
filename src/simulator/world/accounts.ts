import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** The credential: a bearer token, one of these headers, or the parameter `key` of the query. */
export function credentialOf(
  headers: IncomingHttpHeaders,
  query: URLSearchParams,
  keyHeaders: readonly string[],
): string | null {
  const bearer = /^Bearer\s+(\S.*)$/i.exec(headers.authorization ?? '')?.[1];
  const inHeaders = keyHeaders.map((name) => headers[name]).find((value) => value !== undefined);
  const key = bearer ?? inHeaders ?? query.get('key');
  return typeof key === 'string' && key !== '' ? key : null;
}

/**
 * A short name for credential and scope: keys are kept apart but never kept. A key may name its workspace
 * behind an `@`: those of one workspace see the same batches and files.
 */
export function accountOf(
  provider: string,
  credential: string,
  headers: IncomingHttpHeaders,
  scopeHeaders: readonly string[],
): string {
  const scope = scopeHeaders.map((name) => String(headers[name] ?? ''));
  const workspace = /@.+$/.exec(credential)?.[0];
  const identity = JSON.stringify([provider, workspace ?? credential, ...scope]);
  return createHash('sha256').update(identity).digest('hex').slice(0, 12);
}

/** The query as it is logged. */
export function redactQuery(query: string): string {
  return query.replace(/([?&]key=)[^&]*/g, '$1REDACTED');
}

const secretHeader = /authorization|api-?key|token|cookie|secret|signature/i;

export function redactHeaders(
  headers: IncomingHttpHeaders,
  keyHeaders: readonly string[],
): Record<string, string> {
  const redacted: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const isSecret = secretHeader.test(name) || keyHeaders.includes(name);
    redacted[name] = isSecret ? 'REDACTED' : String(value);
  }
  return redacted;
}
