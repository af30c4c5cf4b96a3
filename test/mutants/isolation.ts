import type { Mutant } from './mutant.ts';

/** Promises 4 and 6: nobody notices who is not captured; timeouts and aborts. */
export const isolation: readonly Mutant[] = [
  {
    name: 'hooks stay after the last scope has closed',
    promise: 4,
    file: 'src/scope/scope.ts',
    search: 'for (const undo of this.#undoHooks.splice(0)) undo();',
    replace: '',
    tests: ['test/behaviour/hooks-undone.test.ts'],
  },
  {
    name: 'x-batchling goes out with the call',
    promise: 4,
    file: 'src/scope/call-headers.ts',
    search: "headers.delete('x-batchling');",
    replace: '',
    tests: ['test/behaviour/bind-and-realtime.test.ts', 'test/behaviour/pass-through.test.ts'],
  },
  {
    name: 'a call to a host that is not ours goes out with a header more',
    promise: 4,
    file: 'src/scope/uncaptured-calls.ts',
    search: 'if (suspect === undefined) return passOn(input, init);',
    replace:
      "if (suspect === undefined) return passOn(input, { ...init, headers: { 'x-seen': '1' } });",
    tests: ['test/behaviour/pass-through.test.ts', 'test/fidelity/fidelity.test.ts'],
  },
  {
    name: 'a call that is aborted already is captured',
    promise: 6,
    file: 'src/scope/scope-calls.ts',
    search: 'if (signal?.aborted) return goOut(outgoing);',
    replace: '',
    tests: ['test/behaviour/aborts.test.ts'],
  },
  {
    name: 'what its user aborted while it waited for room is sent all the same',
    promise: 6,
    file: 'src/orchestrator/submit/submitter.ts',
    search: 'return requests.filter(({ isWanted }) => isWanted);',
    replace: 'return requests.filter(({ callers }) => !callers.some(({ isDue }) => isDue));',
    tests: ['test/behaviour/abort-while-waiting.test.ts'],
  },
  {
    name: "a timer's abort counts as a client's deadline however far away",
    promise: 6,
    file: 'src/hooks/abort-guard/abort-guard.ts',
    search: 'return abortDepth <= hops && (',
    replace: 'return (',
    tests: ['test/behaviour/abort-after-deadline.test.ts'],
  },
];
