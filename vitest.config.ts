import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    pool: 'forks',
    env: { BATCHLING_DISPLAY: 'none' },
    // A test waits for what it expects, not for a time: these only end one that hangs.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { interval: 5, timeout: 60_000 } },
  },
});
