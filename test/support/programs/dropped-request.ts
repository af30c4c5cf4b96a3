import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { readInput } from './parts/read-input.ts';

/**
 * The signal of a `Request` follows its controller only as long as the `Request` is alive. Here
 * nobody but the captured call could keep it alive when the controller aborts.
 */
const { url, request, options } = readInput<{
  url: string;
  request: RequestInit;
  options: BatchifyOptions;
}>();
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const turn = () => new Promise((resolve) => setTimeout(resolve, 5));

const scope = batchify(options);
const controller = new AbortController();
let outcome: unknown = 'waiting';
scope.run(() => {
  void fetch(new Request(url, { ...request, signal: controller.signal })).then(
    ({ status }) => {
      outcome = status;
    },
    (error: unknown) => {
      outcome = (error as Error).name;
    },
  );
});
while (scope.stats.captured === 0) await turn();
for (let round = 0; round < 5; round += 1) {
  collectGarbage();
  await turn();
}
controller.abort();
await turn();
const afterAbort = outcome;
await scope.close();
console.log(JSON.stringify({ afterAbort, atTheEnd: outcome }));
