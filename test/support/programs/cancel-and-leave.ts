import { batchify } from '../../../src/index.ts';
import { readInput } from './parts/read-input.ts';

/** Cancels its scope as soon as the outcome of the create is unclear, and waits for nothing else. */
const { baseUrl, store, request } = readInput<{
  baseUrl: string;
  store: string;
  request: RequestInit;
}>();
const silent = () => undefined;
const warn = (message: string) => {
  if (message.includes('create batch')) void cancel();
};
const logger = { debug: silent, info: silent, warn, error: silent };
const hosts = { [baseUrl]: 'openai' } as const;
const scope = batchify({ hosts, store, window: '5ms', poll: '1h', logger });
const asked = scope.run(() => fetch(`${baseUrl}/chat/completions`, request));

async function cancel(): Promise<void> {
  await scope.cancel();
  process.stdout.write(JSON.stringify({ status: (await asked).status }));
  process.exit();
}
