/** What only Mistral's jobs have. */
export interface MistralJob {
  endpoint: string;
  model: string;
  metadata: Record<string, string> | null;
  inputFiles: string[];
  /** The lines as they came; emptied once they were read. */
  input: Buffer[];
  outputFile: string | null;
  errorFile: string | null;
  /** Messages of lines that failed, and how often each came up. */
  failures: Map<string, number>;
}
