import { defineConfig } from 'vitest/config';

/** A project whose tests ask a model; `test/cli/exec-vitest.test.ts` runs it under `batchling exec`. */
export default defineConfig({
  // Named so that the tests of batchling itself do not include them.
  test: { include: ['*.asks.ts'], testTimeout: 0, sequence: { concurrent: true } },
});
