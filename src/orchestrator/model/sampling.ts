import type { RequestId } from '../../ledger/ledger.ts';

/**
 * What a gateway, or a job over a file, says about a call. A gateway lives for weeks and sees no launch of its clients'
 * programs, a job sees its whole input: both count samples by other rules than a run does.
 */
export interface Sampling {
  /** The client's own name for its run. */
  readonly run?: string | undefined;
  /** Answers that other runs of the client, or earlier runs of the job, have got are not used. */
  readonly fresh?: boolean;
  /** The client says that it asks again. */
  readonly again?: boolean;
  /** Which sample it is, where that is known from before. */
  readonly occurrence?: number;
  /** It is a line of a job: one that fails says nothing about an identical one, which is another sample. */
  readonly isLine?: true;
  /**
   * It was let go of with `leaveCalls` and asks again: a final error is its answer, and what this owner still
   * has of it is sent again.
   */
  readonly isBack?: boolean;
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
