import { createHash } from 'node:crypto';
import type { QueueId, QueueKey } from '../ledger.ts';
import { queueIdentity } from '../queue-identity.ts';

export const QUEUE_COLUMNS = 'account, provider, base, endpoint, model, headers, partition';

export type QueueRow = Omit<QueueKey, 'batchHeaders' | 'partition'> & {
  readonly id: QueueId;
  readonly headers: string;
  readonly partition: string | null;
};

export function queueOf({ headers, partition, ...rest }: QueueRow): QueueKey & { id: QueueId } {
  const batchHeaders = JSON.parse(headers);
  return { ...rest, batchHeaders, ...(partition !== null && { partition }) };
}

/** The hash that tells a queue from others, and then the values of `QUEUE_COLUMNS`. */
export function queueValues(key: QueueKey): [Buffer, ...(number | string | null)[]] {
  const { account, provider, base, endpoint, model, batchHeaders, partition = null } = key;
  const hash = createHash('sha256').update(queueIdentity(key)).digest();
  const headers = JSON.stringify(batchHeaders);
  return [hash, account, provider, base, endpoint, model, headers, partition];
}
