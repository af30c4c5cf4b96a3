import { createDetails, type OpenAIBatch } from '../openai-like/batches/details.ts';

/** How long results can be downloaded, in seconds: the shorter of two documented times. */
const outputLifetime = 24 * 3600;

/** A job is one of OpenAI's batches that may have several input files, or none. */
export interface MistralJob extends OpenAIBatch {
  model: string;
  inputFiles: string[];
  /** Messages of lines that failed, and how often each came up. */
  failures: Map<string, number>;
}

export function newJob(
  endpoint: string,
  model: string,
  metadata: Record<string, string> | null,
  source: Pick<MistralJob, 'input' | 'inputFiles'>,
): MistralJob {
  const details = createDetails(endpoint, { id: '', chunks: source.input });
  return { ...details, ...source, model, metadata, outputLifetime, failures: new Map() };
}
