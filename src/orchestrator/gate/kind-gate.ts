import { createHash } from 'node:crypto';
import type { CanaryMode } from '../model/call.ts';
import type { RequestQueue } from '../model/request-queue.ts';
import { Gate } from './gate.ts';
import type { Kind } from './kind.ts';

/** The requests of one kind. */
export class KindGate extends Gate {
  readonly queue: RequestQueue;
  readonly kind: Kind;
  readonly mode: CanaryMode;
  refusedAt = 0;

  constructor(queue: RequestQueue, kind: Kind, mode: CanaryMode) {
    super();
    this.queue = queue;
    this.kind = kind;
    this.mode = mode;
  }

  /** What the ledger remembers it by. */
  nameFor(mode: CanaryMode): string {
    const { endpoint, model, wire, batchHeaders } = this.queue;
    const parts = [endpoint, model, wire.base, batchHeaders, this.kind.key];
    const hash = createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
    return `canary ${mode} ${hash}`;
  }
}
