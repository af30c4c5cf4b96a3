import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { batchify } from '../../src/index.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

/** What is said of scopes that were of no use. */
async function warnings(work: () => Promise<void>): Promise<string[]> {
  const said: string[] = [];
  const note = (warning: Error) => said.push(warning.message);
  process.on('warning', note);
  await work();
  await new Promise((resolve) => setTimeout(resolve, 1));
  process.off('warning', note);
  return said.filter((text) => /without ever having been entered|has captured no/.test(text));
}

describe('a scope that is closed without having been entered', () => {
  it('says nothing when code was run in it, bound to it, or given its fetch', async () => {
    const said = await warnings(async () => {
      await using ran = batchify(stage.options());
      ran.run(() => undefined);
      await using bound = batchify(stage.options());
      bound.bind(() => undefined);
      await using lent = batchify(stage.options());
      expect(lent.fetch).toBeTypeOf('function');
      await using _entered = await batchify(stage.options()).enter();
      await using _unhooked = batchify({ ...stage.options(), hooks: false });
      await batchify(() => undefined, stage.options());
    });
    expect(said).toEqual([]);
  });

  it('says so once, with what to write', async () => {
    const said = await warnings(async () => {
      for (let time = 0; time < 2; time += 1) {
        await using _scope = batchify(stage.options());
      }
      const entered = await batchify(stage.options()).enter();
      await entered.close();
    });
    expect(said).toEqual([
      expect.stringContaining('`await using scope = await batchify(options).enter()`'),
    ]);
  });
});

describe('a scope that has captured nothing', () => {
  it('says nothing inside of another one, without hooks, or where nothing is to be shown', async () => {
    const said = await warnings(async () => {
      const shown = stage.options({ display: 'plain' });
      const outer = batchify({ ...shown, display: 'none' });
      await outer.run(() => batchify(() => undefined, shown));
      await outer.close();
      await using unhooked = batchify({ ...shown, hooks: false });
      expect(unhooked.fetch).toBeTypeOf('function');
    });
    expect(said).toEqual([]);
  });

  it('says so once, and why that may be', async () => {
    const said = await warnings(async () => {
      for (let time = 0; time < 2; time += 1) {
        expect(await batchify(() => 'done', stage.options({ display: 'plain' }))).toBe('done');
      }
    });
    expect(said).toEqual([
      expect.stringMatching(/batchling exec.*batchling exec --gateway.*scope\.fetch/),
    ]);
  });
});
