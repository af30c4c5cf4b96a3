import type { Handle } from '../../base/types.ts';
import type { Wire } from '../../http/wire.ts';
import type { Found, Plan, PolledBatch, Remote, Row } from '../batcher.ts';

/** One of the two ways by which Bedrock makes batches of a file in a bucket. */
export interface BatchApi {
  create(wire: Wire, plan: Plan, handle: Handle): Promise<Remote>;
  find(wire: Wire, plan: Pick<Plan, 'token' | 'count'>, handle: Handle): Promise<Found>;
  poll(wire: Wire, batches: readonly PolledBatch[]): AsyncIterable<Remote>;
  results(wire: Wire, remote: Remote): AsyncIterable<readonly Row[]>;
  cancel(wire: Wire, id: string): Promise<void>;
}
