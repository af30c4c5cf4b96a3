import type { BatchLine } from '../world/batches/batch.ts';
import type { BatchError } from '../world/batches/batch-script.ts';

export type InvocationType = 'InvokeModel' | 'Converse';

/** What only jobs of Bedrock have. */
export interface BedrockJob {
  name: string;
  token: string;
  modelId: string;
  roleArn: string;
  type: InvocationType;
  inputUri: string;
  /** `s3://bucket/prefix/` of the destination. */
  outputUri: string;
  hours: number;
  /** Emptied once the job has taken them over. */
  requests: BatchLine[];
  /** The text of every record by its id: rows echo it. */
  echoes: Map<string, unknown>;
  problem: BatchError | null;
}
