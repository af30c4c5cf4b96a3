import type { RequestId } from '../../ledger/ledger.ts';

/**
 * What a gateway says about a call. It lives for weeks and sees no launch of its clients' programs, so that
 * it counts samples by other rules than a run does.
 */
export interface Sampling {
  /** The client's own name for its run. */
  readonly run?: string | undefined;
  /** Answers that other runs of the client have got are not used. */
  readonly fresh?: boolean;
  /** The client says that it asks again. */
  readonly again?: boolean;
  /** Which sample it is, where that is known from before. */
  readonly occurrence?: number;
  /** The fingerprint it had before: with any other one it is not the same request. */
  readonly expected?: Buffer;
  /** Called once the call cannot go out as an ordinary one any more: nobody else needs its body. */
  taken?(): void;
  /** Called once the engine keeps the body within its own limits, in memory or in the ledger. */
  spooled?(): void;
  /** Called once the request and its body are in the ledger. */
  kept?(request: KeptRequest): void;
}

/** A request whose body is in the ledger, so that another process can go on with it. */
export interface KeptRequest {
  readonly row: RequestId;
  readonly fingerprint: Buffer;
  readonly occurrence: number;
  /** How many requests the call needs; each of them is told of. */
  readonly parts: number;
}
