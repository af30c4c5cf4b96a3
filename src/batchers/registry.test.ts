import { describe, expect, it } from 'vitest';
import { builtInInfos, registeredBatchers } from './registry.ts';

describe.each(registeredBatchers())('the entry of $name', (registered) => {
  it('has the facts of its batcher', async () => {
    expect((await registered.load()).info).toBe(registered.info);
    expect(builtInInfos).toContain(registered.info);
  });

  it('loads its batcher once', async () => {
    expect(await registered.load()).toBe(await registered.load());
    expect(registered.batcher).toBe(await registered.load());
  });
});
