import { type BatchifyOptions, batchify, realtime } from '../../../src/index.ts';
import { readInput } from './parts/read-input.ts';

/** Nothing here keeps the process up but the call that waits; an SDK would add timers of its own. */
const { form, url, request, options } = readInput<{
  form: 'function' | 'scope' | 'fetch' | 'unused';
  url: string;
  request: RequestInit;
  options: BatchifyOptions;
}>();

const ask = (send = fetch) => send(url, request).then((response) => response.text());
const print = (answer: string) => console.log(answer);

if (form === 'function') {
  void batchify(() => ask(), options).then(print);
} else if (form === 'scope') {
  const scope = batchify(options);
  scope.run(() => {
    void ask().then(print);
  });
} else if (form === 'fetch') {
  const scope = batchify({ ...options, hooks: false });
  void ask(scope.fetch).then(print);
} else {
  void batchify(() => realtime(() => ask()), options).then(print);
}
