import { EventEmitter } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchify, realtime } from '../../../src/index.ts';
import { sourceOf } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const source = (prompt?: string) => sourceOf(stage, prompt);

describe('bind', () => {
  it('runs a callback inside the scope, with its this, parameters and result', async () => {
    const emitter = new EventEmitter();
    const scope = batchify(stage.options());
    const seen: unknown[] = [];
    let asked: Promise<string> | undefined;
    const listener = scope.bind(function (this: unknown, ...parameters: unknown[]) {
      seen.push(this, ...parameters);
      asked = source();
      return 'result';
    });
    emitter.on('job', listener);
    emitter.emit('job', 1, 'two');
    expect(seen).toEqual([emitter, 1, 'two']);
    expect(await asked).toBe('batch');
    expect(listener.call(undefined)).toBe('result');
    await asked;
    await scope.close();
    expect(await source()).toBe('plain');
  });

  it('runs it as an ordinary one once the scope is closed', async () => {
    const scope = batchify(stage.options());
    const bound = scope.bind(() => source());
    await scope.close();
    expect(await bound()).toBe('plain');
  });
});

describe('realtime', () => {
  it('lets calls inside a scope go out as ordinary ones, without a warning', async () => {
    const scope = batchify(stage.options());
    const bypassed: unknown[] = [];
    scope.on('call:bypassed', (event) => bypassed.push(event));
    const sources = await scope.run(() =>
      Promise.all([realtime(() => source('now')), source('later')]),
    );
    await scope.close();
    expect(sources).toEqual(['plain', 'batch']);
    expect(bypassed).toEqual([]);
    expect(scope.stats).toMatchObject({ captured: 1, bypassed: 0 });
    expect(stage.simulator.meter).toMatchObject({ batched: 1, realtime: 1 });
  });

  it('returns what the function returns, also outside of any scope', () => {
    expect(realtime(() => 42)).toBe(42);
  });

  it('can have a scope inside', async () => {
    const options = stage.options();
    const outer = batchify(options);
    expect(await outer.run(() => realtime(() => batchify(() => source(), options)))).toBe('batch');
    await outer.close();
    expect(outer.stats.captured).toBe(0);
  });

  it('a scope inside inherits the options around realtime, and captures its own calls', async () => {
    const outer = batchify(stage.options());
    const sources = await outer.run(() =>
      realtime(() =>
        realtime(async () => {
          // Without the option hosts it would capture nothing.
          const inner = batchify();
          const ask = inner.bind(source);
          const whileOpen = await ask();
          await inner.close();
          return [whileOpen, await ask('closed'), await source('outside')];
        }),
      ),
    );
    expect(sources).toEqual(['batch', 'plain', 'plain']);
    await outer.close();
    expect(outer.stats.captured).toBe(0);
  });
});
