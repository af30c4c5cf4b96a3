import type { BatchifyOptions } from '../../../../src/index.ts';
import { readInput } from './read-input.ts';

export const { url, request, options } = readInput<{
  url: string;
  request: RequestInit;
  options: BatchifyOptions;
}>();

/** Where the answer to a call made right here came from: `plain` when it was not captured. */
export async function source(): Promise<string> {
  const response = await fetch(url, request);
  await response.text();
  return response.headers.get('x-batchling-source') ?? 'plain';
}
