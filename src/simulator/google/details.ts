import type { BatchLine } from '../world/batches/batch.ts';
import type { BatchError } from '../world/batches/batch-script.ts';

/** What only Google's batches have. */
export interface GoogleBatch {
  method: 'generateContent' | 'embedContent';
  model: string;
  displayName: string;
  /** The input file; null where the requests came with the create. */
  fileId: string | null;
  /** Emptied once the batch has taken them over. */
  requests: BatchLine[];
  /** What is wrong with the input file, which shows only after the create. */
  problem: BatchError | null;
  tokens: number;
  /** Where the answers are, once they are. */
  output: { fileId: string } | { inlined: object[] } | null;
}

/** A request without a key of its own has this one. */
export const noKey = '';
