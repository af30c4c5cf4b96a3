import { defineConfig } from 'vitest/config';

/** `npm run test:browser`: needs Chromium (CHROMIUM_PATH, or /usr/bin/chromium). */
export default defineConfig({
  test: {
    include: ['test/browser/**/*.browser.ts'],
    pool: 'forks',
    fileParallelism: false,
    env: { BATCHLING_DISPLAY: 'none' },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { interval: 20, timeout: 20_000 } },
  },
});
