import { createHash, hash } from 'node:crypto';
import type { Route } from '../../batchers/batcher.ts';

/**
 * SHA-256 over everything of a call that can change its answer, and nothing else: provider, base,
 * endpoint, model, the headers and query the batcher named, and the body as it stands in its line.
 *
 * @returns the fingerprint with a character per byte, the form in which a hundred thousand of them are kept at once.
 */
export function fingerprintOf(provider: string, base: string, route: Route): string {
  return sha256(`${headOf(provider, base, route)}\n${route.body}`);
}

let last = { provider: '', base: '', endpoint: '', model: '', head: '' };

/** Nearly all requests of a program have the same: its text is made once. */
function headOf(
  provider: string,
  base: string,
  { endpoint, model, identity }: Pick<Route, 'endpoint' | 'model' | 'identity'>,
): string {
  const isSame =
    identity.length === 0 &&
    last.model === model &&
    last.endpoint === endpoint &&
    last.base === base &&
    last.provider === provider;
  if (isSame) return last.head;
  const head = JSON.stringify([provider, base, endpoint, model, identity]);
  if (identity.length === 0) last = { provider, base, endpoint, model, head };
  return head;
}

/**
 * The same for one account alone: a gateway serves clients that must not get each other's answers. `apart`
 * names the run whose answers are to be its own.
 */
export function fingerprintOfAccount(
  key: string,
  account: Uint8Array,
  apart: string | undefined,
): string {
  const parts = [bytesOf(key).toString('hex'), Buffer.from(account).toString('hex'), apart ?? null];
  return sha256(JSON.stringify(parts));
}

/** The fingerprint as the ledger takes it. */
export function bytesOf(key: string): Buffer {
  return Buffer.from(key, 'latin1');
}

/** A character per byte. The one-shot function is Node 20.12's; it saves an object per call. */
export const sha256: (data: string | Buffer) => string =
  typeof hash === 'function'
    ? (data) => hash('sha256', data, 'binary')
    : (data) => createHash('sha256').update(data).digest('binary');
