import { describe, expect, it } from 'vitest';
import { registeredBatchers } from './registry.ts';

const paths = [
  '/chat/completions',
  '/responses',
  '/embeddings',
  '/messages',
  '/files',
  '/batches',
  '/messages/batches',
  '/models',
];

describe.each(registeredBatchers())('the entry of $name', (registered) => {
  it('says the same as its batcher', async () => {
    const batcher = await registered.load();
    const { name, hosts, root, versions } = batcher.info;
    expect(registered).toMatchObject({ name, hosts, root, versions });
    for (const path of paths) expect(registered.handles(path)).toBe(batcher.handles(path));
  });

  it('loads its batcher once', async () => {
    expect(await registered.load()).toBe(await registered.load());
    expect(registered.batcher).toBe(await registered.load());
  });
});
