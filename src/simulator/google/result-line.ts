import type { Outcome } from '../world/batches/batch.ts';
import { noKey } from './details.ts';
import { rpcError } from './errors.ts';

/** One answer: a line of a file with its `key`, or an item of the batch itself with `metadata.key`. */
export function resultLine(isFile: boolean, key: string, outcome: Outcome): string {
  const named = isFile ? { key } : { metadata: { key } };
  return JSON.stringify({ ...(key !== noKey && named), ...resultOf(outcome) });
}

function resultOf(outcome: Outcome): object {
  switch (outcome.kind) {
    case 'answered':
      return { response: outcome.body };
    case 'empty':
      return { response: {} };
    case 'refused':
      return { error: outcome.body ?? rpcError(outcome.status, outcome.message, outcome.code) };
    case 'unstated':
      return {};
    case 'expired':
      return { error: rpcError(504, 'The request was not run in time.') };
    case 'canceled':
      return { error: rpcError(499, 'The request was cancelled.') };
  }
}
