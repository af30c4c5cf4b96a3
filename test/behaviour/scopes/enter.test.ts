import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { sourceOf } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;
let store: string;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => {
  stage.simulator.reset();
  store = stage.newStore();
});

const options = () => stage.options({ store });
let asked = 0;

/** A prompt of its own each time, so that no answer comes from the ledger. */
const source = () => {
  asked += 1;
  return sourceOf(stage, `question ${asked}`);
};

/** An async function with a scope; nothing is awaited before it. */
async function inScope(): Promise<string> {
  await using _scope = await batchify(options()).enter();
  return source();
}

describe('a scope entered by await using', () => {
  it('reaches neither a sibling nor the caller, before, meanwhile or afterwards', async () => {
    const sources = await Promise.all([source(), inScope(), source(), inScope(), source()]);
    expect(sources).toEqual(['plain', 'batch', 'plain', 'batch', 'plain']);
    expect(await source()).toBe('plain');
  });

  it('does not reach a caller that does not wait', async () => {
    const scoped = inScope();
    expect(await source()).toBe('plain');
    expect(await scoped).toBe('batch');
  });

  it('is a scope of its own in each turn of a loop', async () => {
    const stats = [];
    for (let turn = 0; turn < 3; turn += 1) {
      await using scope = await batchify(options()).enter();
      expect(await source()).toBe('batch');
      stats.push(scope.stats);
    }
    expect(stats.map(({ captured }) => captured)).toEqual([1, 1, 1]);
    expect(await source()).toBe('plain');
  });

  it('leaves a nested scope for the one around it, and that for none', async () => {
    const sources: string[] = [];
    {
      await using outer = await batchify(options()).enter();
      {
        await using inner = await batchify().enter();
        sources.push(await source());
        expect(inner.stats.captured).toBe(1);
      }
      sources.push(await source());
      expect(outer.stats.captured).toBe(1);
    }
    sources.push(await source());
    expect(sources).toEqual(['batch', 'batch', 'plain']);
  });

  it('is left when the block throws, after its calls were answered', async () => {
    let answer: Promise<string> | undefined;
    const failing = async () => {
      await using _scope = await batchify(options()).enter();
      answer = source();
      throw new Error('a mistake of the program');
    };
    await expect(failing()).rejects.toThrow('a mistake');
    expect(await answer).toBe('batch');
    expect(await source()).toBe('plain');
  });
});

describe('an async generator with a scope', () => {
  async function* generate() {
    await using _scope = await batchify(options()).enter();
    yield await source();
    yield await source();
  }

  it('has it until its first yield, and then runs in the context of its consumer', async () => {
    const sources: string[] = [];
    for await (const one of generate()) sources.push(one, await source());
    expect(sources).toEqual(['batch', 'plain', 'plain', 'plain']);
    expect(await source()).toBe('plain');
  });

  it('does not end the scope of a consumer that has one', async () => {
    const generator = generate();
    await generator.next();
    await using scope = await batchify(options()).enter();
    for await (const one of generator) expect(one).toBe('batch');
    expect(await source()).toBe('batch');
    expect(scope.stats.captured).toBe(2);
  });
});

describe('what enter() resolves to', () => {
  it('is the same scope with all its methods', async () => {
    const scope = batchify(options());
    const entered = await scope.enter();
    expect(Object.getPrototypeOf(Object.getPrototypeOf(entered))).toBe(
      Object.getPrototypeOf(scope),
    );
    const heard: string[] = [];
    const off = entered.on('call:captured', ({ model }) => heard.push(model));
    const { fetch } = entered;
    expect(fetch).toBe(scope.fetch);
    expect(await sourceOf(stage, 'by its fetch', fetch)).toBe('batch');
    expect(await entered.run(source)).toBe('batch');
    expect(await entered.bind(source)()).toBe('batch');
    off();
    expect(await scope.run(source)).toBe('batch');
    await entered.flush();
    expect(entered.stats).toEqual(scope.stats);
    expect(entered.stats.captured).toBe(4);
    expect(heard).toHaveLength(3);
    expect(entered.close()).toBe(scope.close());
    await entered.cancel();
  });

  it('enters nothing before it is used', async () => {
    const entered = await batchify(options()).enter();
    expect(await source()).toBe('plain');
    const leave = entered[Symbol.asyncDispose];
    expect(await source()).toBe('batch');
    await leave();
    expect(await source()).toBe('plain');
  });

  it('can be looked at twice and left once', async () => {
    const entered = await batchify(options()).enter();
    expect(typeof entered[Symbol.asyncDispose]).toBe('function');
    await entered[Symbol.asyncDispose]();
    expect(await source()).toBe('plain');
  });
});

describe('the context itself', () => {
  it('is closed by await using, and enters nothing', async () => {
    let sent: typeof fetch;
    {
      await using scope = batchify({ ...options(), hooks: false });
      sent = scope.fetch;
      expect(await source()).toBe('plain');
      expect(await sourceOf(stage, 'by its fetch', sent)).toBe('batch');
    }
    expect(await sourceOf(stage, 'by its fetch', sent)).toBe('plain');
  });
});
