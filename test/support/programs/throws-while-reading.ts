import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { readInput } from './parts/read-input.ts';

const { url, request, options } = readInput<{
  url: string;
  request: RequestInit;
  options: BatchifyOptions;
}>();

await batchify(async () => {
  await fetch(url, request);
  void fetch(new Request(url, request)).then(({ status }) => console.log(status));
  throw new Error('a mistake of the program');
}, options).catch(() => undefined);

// Fires only if something keeps the program up.
setTimeout(() => process.exit(1), 60_000).unref();
