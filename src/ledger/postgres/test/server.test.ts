import { expect, it } from 'vitest';
import { startServer } from './server.test-helper.ts';

it('a server that cannot start says why at once', async () => {
  const startedAt = performance.now();
  await expect(startServer(['shared_buffers=none'])).rejects.toThrow(
    /did not start: .*shared_buffers/s,
  );
  expect(performance.now() - startedAt).toBeLessThan(60_000);
});
