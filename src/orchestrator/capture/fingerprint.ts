import { createHash, hash } from 'node:crypto';
import type { Route } from '../../batchers/batcher.ts';

/**
 * SHA-256 over everything of a call that can change its answer, and nothing else: provider, base,
 * endpoint, model, the headers and query the batcher named, and the body as it stands in its line.
 */
export function fingerprintOf(provider: string, base: string, route: Route): Buffer {
  const head = JSON.stringify([provider, base, route.endpoint, route.model, route.identity]);
  return sha256(`${head}\n${route.body}`);
}

/**
 * The same for one account alone: a gateway serves clients that must not get each other's answers. `apart`
 * names the run whose answers are to be its own.
 */
export function fingerprintOfAccount(
  fingerprint: Buffer,
  account: Uint8Array,
  apart: string | undefined,
): Buffer {
  const parts = [fingerprint.toString('hex'), Buffer.from(account).toString('hex'), apart ?? null];
  return sha256(JSON.stringify(parts));
}

/**
 * The one-shot function is Node 20.12's; it saves an object per call. By way of a string, because
 * small buffers made from strings share memory: a hundred thousand of them are kept at once.
 */
const sha256: (text: string) => Buffer =
  typeof hash === 'function'
    ? (text) => Buffer.from(hash('sha256', text, 'binary'), 'latin1')
    : (text) => createHash('sha256').update(text).digest();
