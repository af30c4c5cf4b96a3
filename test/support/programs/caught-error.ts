import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { readInput } from './parts/read-input.ts';

const { url, request, options } = readInput<{
  url: string;
  request: RequestInit;
  options: BatchifyOptions;
}>();

/** As an SDK does it, but without a timer that keeps the process up. */
async function ask(): Promise<void> {
  const response = await fetch(url, request);
  if (!response.ok) throw new Error(`status ${response.status}`);
}

/** Calls nobody awaits, and an error that is caught: the program goes on and ends by itself. */
try {
  await batchify(() => {
    for (let call = 0; call < 3; call += 1) void ask();
    throw new Error('a mistake of the program');
  }, options);
} catch (error) {
  console.log((error as Error).message);
}
setTimeout(() => console.log('went on'), 10);
