import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string) => fileURLToPath(new URL(`../../../src/${path}`, import.meta.url));

/** For code of the docs: it imports the package, of which there is only the source here. */
export default defineConfig({
  resolve: {
    alias: [
      { find: /^batchling$/, replacement: source('index.ts') },
      { find: /^batchling\/simulator$/, replacement: source('simulator/index.ts') },
    ],
  },
  test: { include: ['*.test.ts'], testTimeout: 60_000 },
});
