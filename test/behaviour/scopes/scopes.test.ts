import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { ask } from '../../support/ask.ts';
import { sourceOf } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon, until } from '../../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const source = (prompt?: string) => sourceOf(stage, prompt);

describe('batchify with a function', () => {
  it('returns what the function returns', async () => {
    const value = { any: 'thing' };
    expect(await batchify(() => value, stage.options())).toBe(value);
    expect(await batchify(async () => value, stage.options())).toBe(value);
    expect(await batchify(() => undefined, stage.options())).toBeUndefined();
  });

  it('captures inside and only inside', async () => {
    expect(await source()).toBe('plain');
    expect(await batchify(() => source(), stage.options())).toBe('batch');
    expect(await source()).toBe('plain');
  });

  it('follows timers, promises and callbacks that start inside', async () => {
    const sources = await batchify(
      () =>
        Promise.all([
          new Promise((resolve) => setTimeout(() => resolve(source('timer')), 1)),
          Promise.resolve().then(() => source('promise')),
          new Promise((resolve) => process.nextTick(() => resolve(source('tick')))),
          new Promise((resolve) => setImmediate(() => resolve(source('immediate')))),
        ]),
      stage.options(),
    );
    expect(sources).toEqual(['batch', 'batch', 'batch', 'batch']);
  });

  it('flushes and awaits calls that the function did not await, without their window', async () => {
    let answer = '';
    const client = stage.openai();
    await soon(
      batchify(
        () => {
          void ask(client, 'not awaited').then((text) => {
            answer = text;
          });
        },
        stage.options({ window: '1h', maxWindow: '1h' }),
      ),
    );
    await until(() => answer !== '', 'the answer');
    expect(answer).toContain('answer to "not awaited"');
    expect(stage.simulator.meter.batched).toBe(1);
  });

  it('captures calls that follow from answers while the scope is closing', async () => {
    const client = stage.openai();
    const scope = batchify(stage.options());
    const chain = scope.run(async () => {
      await ask(client, 'first');
      await ask(client, 'second');
      return ask(client, 'third');
    });
    await until(() => scope.stats.captured === 1, 'the first call');
    await soon(scope.close());
    expect(await soon(chain)).toContain('answer to "third"');
    expect(stage.simulator.meter).toMatchObject({ batched: 3, realtime: 0 });
  });
});

describe('await using', () => {
  it('enters at the declaration and leaves at the end of the block', async () => {
    const sources: string[] = [];
    {
      await using scope = await batchify(stage.options()).enter();
      sources.push(await source());
      expect(scope.stats.answered).toBe(1);
    }
    sources.push(await source());
    expect(sources).toEqual(['batch', 'plain']);
  });

  it('answers what is still under way before the block is left', async () => {
    let answered = false;
    {
      await using _scope = await batchify(stage.options({ window: '1h', maxWindow: '1h' })).enter();
      void source().then(() => {
        answered = true;
      });
    }
    await until(() => answered, 'the answer');
    expect(stage.simulator.meter.batched).toBe(1);
  });

  it('leaves an inner scope for the outer one', async () => {
    await using outer = await batchify(stage.options()).enter();
    {
      await using inner = await batchify({ window: '10ms' }).enter();
      expect(await source()).toBe('batch');
      expect(inner.stats.captured).toBe(1);
    }
    expect(await source()).toBe('batch');
    expect(outer.stats.captured).toBe(1);
  });

  it('works by reading the getter: creating the object enters nothing', async () => {
    const scope = await batchify(stage.options()).enter();
    expect(await source()).toBe('plain');
    const dispose = scope[Symbol.asyncDispose];
    expect(await source()).toBe('batch');
    await dispose();
    expect(await source()).toBe('plain');
  });
});

describe('which scope captures', () => {
  it('a nested scope inherits every option it does not set', async () => {
    await batchify(async () => {
      const inner = batchify();
      expect(await inner.run(() => source())).toBe('batch');
      expect(inner.stats.captured).toBe(1);
      await inner.close();
    }, stage.options());
  });

  it('a nested scope overrides what it sets', async () => {
    const outer = batchify(stage.options());
    await outer.run(async () => {
      expect(await batchify(() => source(), { only: 'anthropic' })).toBe('plain');
      expect(await source()).toBe('batch');
    });
    await outer.close();
    expect(outer.stats.captured).toBe(1);
  });

  it('two scopes side by side keep their calls apart', async () => {
    const left = batchify(stage.options());
    const right = batchify(stage.options());
    const client = stage.openai();
    const answers = await Promise.all([
      left.run(() => Promise.all(['a', 'b'].map((prompt) => ask(client, prompt)))),
      right.run(() => Promise.all(['c'].map((prompt) => ask(client, prompt)))),
    ]);
    await Promise.all([left.close(), right.close()]);
    expect(answers.flat()).toHaveLength(3);
    expect(left.stats).toMatchObject({ captured: 2, answered: 2 });
    expect(right.stats).toMatchObject({ captured: 1, answered: 1 });
    expect(stage.simulator.batches()).toHaveLength(2);
  });

  it('two scopes side by side on one ledger share an engine and one closes without the other', async () => {
    const store = stage.newStore();
    const left = batchify(stage.options({ store }));
    const right = batchify(stage.options({ store }));
    expect(await left.run(() => source('left'))).toBe('batch');
    const waiting = right.run(() => source('right'));
    await left.close();
    expect(await waiting).toBe('batch');
    expect(await right.run(() => source('right again'))).toBe('batch');
    await right.close();
  });

  it('a closed scope passes through', async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const { late } = await batchify(() => ({ late: gate.then(() => source()) }), stage.options());
    open();
    expect(await late).toBe('plain');
  });

  it('code of a closed scope is captured by the nearest open scope around it', async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const outer = batchify(stage.options());
    await outer.run(async () => {
      const { late } = await batchify(() => ({ late: gate.then(() => source()) }));
      open();
      expect(await late).toBe('batch');
    });
    expect(outer.stats.captured).toBe(1);
    await outer.close();
  });
});
