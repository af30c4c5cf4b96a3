import { BatchlingError } from '../../base/errors.ts';
import type { Answer } from '../../base/types.ts';

/** An answer of ours, for a line that has none of a provider's. */
export function ownError(status: number, type: string, message: string): Answer {
  return { status, headers: {}, body: JSON.stringify({ error: { type, message } }) };
}

interface Told {
  readonly message?: string;
}

/**
 * Throws where the ledger has failed. The line has not, and so it would be with all lines behind it: the job stops, and
 * the same command asks them.
 */
export function throwIfUnstored({ status, body }: Answer): void {
  if (status < 400 || !body.includes('"batchling_store"')) return;
  const { error, message } = JSON.parse(body) as { error?: string | Told } & Told;
  const told = typeof error === 'object' ? error.message : (error ?? message);
  throw new BatchlingError('STORE_UNUSABLE', told ?? 'The ledger cannot be used.');
}
