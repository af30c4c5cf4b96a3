import type { JsonObject } from '../server/json.ts';
import type { BatchLine } from '../world/batches/batch.ts';
import type { BatchError } from '../world/batches/batch-script.ts';

export type Publisher = 'google' | 'anthropic';

/** What only jobs of Vertex have. */
export interface VertexJob {
  project: string;
  location: string;
  publisher: Publisher;
  /** The name as the create wrote it. */
  model: string;
  displayName: string;
  labels: unknown;
  inputUri: string;
  /** `gs://bucket/folder` of the destination. */
  outputUri: string;
  /** Emptied once the job has taken them over. */
  requests: BatchLine[];
  /** Every line of the input by its id: rows echo it. */
  echoes: Map<string, JsonObject>;
  problem: BatchError | null;
  /** Where the rows are, once they are. */
  directory: string | null;
}
