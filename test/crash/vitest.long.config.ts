import { defineConfig } from 'vitest/config';

/** `npm run test:crash`: hundreds of kills, some minutes. */
export default defineConfig({
  test: {
    include: ['test/crash/**/*.long.ts'],
    pool: 'forks',
    fileParallelism: false,
    env: { BATCHLING_DISPLAY: 'none' },
    testTimeout: 600_000,
    hookTimeout: 30_000,
  },
});
