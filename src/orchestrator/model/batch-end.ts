import type { Answer } from '../../base/types.ts';
import type { BatchFailure } from '../../batchers/batcher.ts';

/** How the life of a batch ends in this process. */
export type BatchEnd =
  /** Each line has its outcome. */
  | { readonly is: 'collected' }
  /** The provider refused all of it, at its create or later. Nothing of it ran. */
  | { readonly is: 'refused'; readonly failure: BatchFailure }
  /** It never reached the provider, because of this error. */
  | { readonly is: 'unsent'; readonly error: unknown }
  /** It never reached the provider, and its requests queue anew. */
  | { readonly is: 'released' }
  /** The provider no longer knows it: its requests queue anew. */
  | { readonly is: 'gone' }
  /** Its callers are told this answer, and it stays in the ledger for another day. */
  | { readonly is: 'given up'; readonly answer: Answer }
  /** Another owner has it now. */
  | { readonly is: 'lost' }
  /** The engine goes down, and the ledger keeps it for the next one. */
  | { readonly is: 'stopped' };
