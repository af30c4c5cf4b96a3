import type { StoredFile } from '../files/files.ts';

/** What only batches like OpenAI's have. */
export interface OpenAIBatch {
  endpoint: string;
  window: string;
  inputFileId: string;
  /** The content of the input file; emptied once the lines were read. */
  input: Buffer[];
  metadata: Record<string, string> | null;
  /** In seconds; null for the standard. */
  outputLifetime: number | null;
  /** Known once the lines were read. */
  model: string | null;
  enqueuedTokens: number;
  outputFileId: string | null;
  errorFileId: string | null;
}

export function createDetails(
  endpoint: string,
  file: Pick<StoredFile, 'id' | 'chunks'>,
): OpenAIBatch {
  return {
    endpoint,
    window: '24h',
    inputFileId: file.id,
    input: file.chunks,
    metadata: null,
    outputLifetime: null,
    model: null,
    enqueuedTokens: 0,
    outputFileId: null,
    errorFileId: null,
  };
}
