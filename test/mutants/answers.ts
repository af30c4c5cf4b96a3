import type { Mutant } from './mutant.ts';

/** Promise 1: the right answer to the right caller. */
export const answers: readonly Mutant[] = [
  {
    name: 'results are matched by their order, not by id',
    promise: 1,
    file: 'src/orchestrator/collect/collector.ts',
    search: "'id' in row ? batch.members.get(row.id) : undefined",
    replace:
      "'id' in row ? [...batch.members.values()].find(({ settled }) => !settled) : undefined",
    tests: ['test/behaviour/many-calls.test.ts', 'test/behaviour/same-request.test.ts'],
  },
  {
    name: 'ids of identical calls are the same',
    promise: 1,
    file: 'src/orchestrator/model/item-id.ts',
    search: "${bytes.toString('base64url')}-${occurrence}",
    replace: "${bytes.toString('base64url')}-0",
    tests: ['src/orchestrator/capture/fingerprint.test.ts', 'test/behaviour/re-run.test.ts'],
  },
  {
    name: 'the model is left out of the fingerprint, and so is the body',
    promise: 1,
    file: 'src/orchestrator/capture/fingerprint.ts',
    search: 'return sha256(`${head}\\n${route.body}`);',
    replace: 'return sha256(`${head}`);',
    tests: ['src/orchestrator/capture/fingerprint.test.ts', 'test/behaviour/many-calls.test.ts'],
  },
  {
    name: 'identical calls of one run are one sample',
    promise: 1,
    file: 'src/orchestrator/capture/occurrences.ts',
    search: 'this.#counts[slot] = asked + 1;\n    return asked;',
    replace: 'this.#counts[slot] = asked + 1;\n    return 0;',
    tests: ['test/behaviour/same-request.test.ts', 'src/orchestrator/capture/occurrences.test.ts'],
  },
  {
    name: 'a final error under one key is told to another key',
    promise: 1,
    file: 'src/orchestrator/capture/client-retries.ts',
    search: '`${account.id}\\n${key}`',
    replace: '`${key}`',
    tests: ['test/behaviour/asked-again.test.ts'],
    only: 'by another key',
  },
  {
    name: 'errors serve later runs',
    promise: 1,
    file: 'src/ledger/admission-rules.ts',
    search: 'return known.hasAnswer && ask.waiting === true',
    replace: 'return known.hasAnswer',
    tests: ['src/ledger/admission-rules.test.ts', 'src/ledger/memory/memory-ledger.test.ts'],
  },
  {
    name: 'only one of several callers of a request is told',
    promise: 3,
    file: 'src/orchestrator/collect/delivery.ts',
    search: 'at >= 0; at -= 1',
    replace: 'at >= callers.length - 1; at -= 1',
    tests: ['test/behaviour/same-request.test.ts'],
  },
  {
    name: 'answers to the parts of a call are joined in another order',
    promise: 1,
    file: 'src/orchestrator/capture/joined-answers.ts',
    search: 'this.#deliveries[index] = delivery;',
    replace: 'this.#deliveries.unshift(delivery);',
    tests: ['test/behaviour/fan-out.test.ts'],
  },
  {
    name: 'a batch may go from any phase to any other',
    promise: 2,
    file: 'src/orchestrator/model/batch-phase.ts',
    search: 'invariant(isAllowed,',
    replace: 'invariant(true || isAllowed,',
    tests: ['src/orchestrator/model/batch-phase.test.ts'],
  },
];
