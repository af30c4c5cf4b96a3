import { EventEmitter, once } from 'node:events';
import { Readable } from 'node:stream';
import pLimit from 'p-limit';
import PQueue from 'p-queue';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { sourceOf } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const prompts = ['one', 'two', 'three', 'four', 'five'];
const batched = prompts.map(() => 'batch');
const ask = (prompt: string) => sourceOf(stage, prompt);

/** Where the answers came from to calls made in this way inside a scope. */
function inScope<T>(work: () => T): Promise<Awaited<T>> {
  return batchify(work, stage.options());
}

describe('a scope is kept by', () => {
  it('p-limit, made inside or outside', async () => {
    const outside = pLimit(2);
    const answers = await inScope(() => {
      const inside = pLimit(2);
      return Promise.all([
        ...prompts.map((prompt) => outside(ask, `outside ${prompt}`)),
        ...prompts.map((prompt) => inside(ask, `inside ${prompt}`)),
      ]);
    });
    expect(answers).toEqual([...batched, ...batched]);
  });

  it('p-limit for a job that waited behind a job from outside', async () => {
    const limit = pLimit(1);
    const gate = new EventEmitter();
    const started = once(gate, 'started');
    const before = limit(() => {
      gate.emit('started');
      return once(gate, 'open');
    });
    await started;
    const asked = inScope(() => limit(ask, 'waiting'));
    gate.emit('open');
    await before;
    expect(await asked).toBe('batch');
  });

  it('p-queue, made inside or outside', async () => {
    const outside = new PQueue({ concurrency: 2 });
    const answers = await inScope(() => {
      const inside = new PQueue({ concurrency: 2 });
      return Promise.all([
        ...prompts.map((prompt) => outside.add(() => ask(`outside ${prompt}`))),
        ...prompts.map((prompt) => inside.add(() => ask(`inside ${prompt}`))),
      ]);
    });
    expect(answers).toEqual([...batched, ...batched]);
  });

  it('timers, immediates and microtasks', async () => {
    type Schedule = (callback: () => void) => unknown;
    const ways: Schedule[] = [
      (callback) => setTimeout(callback, 1),
      setImmediate,
      queueMicrotask,
      process.nextTick,
      (callback) => {
        const timer = setInterval(() => {
          clearInterval(timer);
          callback();
        }, 1);
      },
    ];
    const answers = await inScope(() =>
      Promise.all(
        ways.map(
          (schedule, at) => new Promise((resolve) => schedule(() => resolve(ask(`by way ${at}`)))),
        ),
      ),
    );
    expect(answers).toEqual(batched);
  });

  it('async generators, and the code after their loop', async () => {
    async function* answersTo(questions: string[]) {
      for (const question of questions) yield await ask(question);
    }
    const answers = await inScope(async () => {
      const heard: string[] = [];
      for await (const answer of answersTo(prompts.slice(0, 2))) heard.push(answer);
      return [...heard, await ask('after the loop')];
    });
    expect(answers).toEqual(['batch', 'batch', 'batch']);
  });

  it('streams', async () => {
    const answers = await inScope(() =>
      Readable.from(prompts).map(ask, { concurrency: 5 }).toArray(),
    );
    expect(answers).toEqual(batched);
  });

  it('bind(), for a listener of an emitter that emits outside; without it the scope is lost', async () => {
    const emitter = new EventEmitter();
    const scope = batchify(stage.options());
    scope.run(() => {
      emitter.on(
        'bound',
        scope.bind((prompt: string) => emitter.emit('heard bound', ask(prompt))),
      );
      emitter.on('bare', (prompt: string) => emitter.emit('heard bare', ask(prompt)));
    });
    async function heard(way: 'bound' | 'bare'): Promise<string> {
      const answer = once(emitter, `heard ${way}`) as Promise<[Promise<string>]>;
      emitter.emit(way, way);
      return (await answer)[0];
    }
    expect(await heard('bound')).toBe('batch');
    expect(await heard('bare')).toBe('plain');
    await scope.close();
  });
});
