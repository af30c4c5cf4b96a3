import type { QueueKey } from './ledger.ts';

/** Two keys with the same text are the same queue, in whatever order their headers came. */
export function queueIdentity(key: QueueKey): string {
  const headers = Object.entries(key.batchHeaders).sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([
    key.account,
    key.provider,
    key.base,
    key.endpoint,
    key.model,
    headers,
    key.partition ?? null,
  ]);
}
