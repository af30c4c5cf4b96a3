import type { Mutant } from './mutant.ts';

/** Promises 4 and 6: nobody notices who is not captured; timeouts and aborts. */
export const isolation: readonly Mutant[] = [
  {
    name: 'hooks stay after the last scope has closed',
    promise: 4,
    file: 'src/context.ts',
    search: 'for (const undo of this.#undoHooks.splice(0)) undo();',
    replace: '',
    tests: ['test/behaviour/patches.test.ts'],
  },
  {
    name: 'x-batchling goes out with the call',
    promise: 4,
    file: 'src/scope-calls.ts',
    search: "headers.delete('x-batchling');",
    replace: '',
    tests: ['test/behaviour/bind-and-realtime.test.ts', 'test/behaviour/pass-through.test.ts'],
  },
  {
    name: 'calls outside of any scope are captured by the last one',
    promise: 4,
    file: 'src/hooks/fetch.ts',
    search: 'if (scope === undefined) return Reflect.apply(original, this, parameters);',
    replace: 'if (scope === undefined) return original(...parameters);',
    tests: ['test/behaviour/pass-through.test.ts', 'src/hooks/fetch.test.ts'],
  },
  {
    name: 'a call that is aborted already is captured',
    promise: 6,
    file: 'src/scope-calls.ts',
    search: 'if (signalOf(outgoing)?.aborted) return goOut(outgoing);',
    replace: '',
    tests: ['test/behaviour/aborts.test.ts'],
  },
  {
    name: 'what its user aborted before it was planned is sent all the same',
    promise: 6,
    file: 'src/orchestrator/engine.ts',
    search: 'else this.#queues.leave(pending);',
    replace: '',
    tests: ['test/behaviour/aborts.test.ts', 'test/behaviour/nothing-more-is-spent.test.ts'],
  },
];
