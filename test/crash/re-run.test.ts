import { writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type AskInput,
  type AskOutput,
  askToTheEnd,
  startAsker,
} from '../support/processes/asker.ts';
import { until } from '../support/until.ts';
import { networkPoint, setTrap } from './parts/kills.ts';
import { openScene, type Provider, type Scene } from './parts/scene.ts';
import { judge } from './parts/verdict.ts';

const fine = { billedTwice: 0, lost: 0, wrong: 0, complaints: [] };
const three = ['red', 'green', 'blue'];
const texts = ({ heard }: AskOutput) => heard.map(({ text }) => text);

let scene: Scene;
afterEach(() => scene.close());

async function killAt(input: AskInput, start: string): Promise<void> {
  const trap = setTrap(scene.simulator, networkPoint(input.sdk as Provider, start));
  await trap(await startAsker(input));
}

describe('with cache: false', () => {
  const options = { cache: false };

  it('the answers of a finished run are not used', async () => {
    scene = await openScene('openai', {}, options);
    const first = await askToTheEnd(scene.input(three));
    const second = await askToTheEnd(scene.input(three));
    expect(texts(second)).not.toEqual(texts(first));
    expect(scene.simulator.meter.total).toBe(6);
  });

  it('a killed run is continued', async () => {
    scene = await openScene('openai', {}, options);
    await killAt(scene.input(three), 'a poll is under way');
    const { heard } = await askToTheEnd(scene.input(three));
    expect(await judge(scene.simulator, three, heard)).toEqual(fine);
  });

  it('answers that a killed run had stored are used once, by the run that continues it', async () => {
    scene = await openScene('openai', {}, options);
    const flag = `${scene.store}.flag`;
    scene.simulator.faults.add({ path: /content$/, action: { kind: 'delay', ms: 150 } });
    const asker = await startAsker(scene.input(three, { kill: { commit: flag, when: 'after' } }));
    await until(() => scene.simulator.countRequests('GET', /content$/) === 1, 'the results');
    putUp(flag);
    expect((await asker.ended).signal).toBe('SIGKILL');
    const second = await askToTheEnd(scene.input(three));
    expect(await judge(scene.simulator, three, second.heard)).toEqual(fine);
    await askToTheEnd(scene.input(three));
    expect(scene.simulator.meter.total).toBe(6);
  });
});

describe.each([
  ['openai', 'gpt-4o-mini'],
  ['anthropic', 'claude-haiku-4-5'],
] as const)('a batch of a killed run: %s', (provider, model) => {
  it('is collected with what it has saved, though nothing was sent', async () => {
    scene = await openScene(provider);
    await killAt(scene.input(three, { model }), 'a poll is under way');
    const { heard, saved } = await askToTheEnd(scene.input(three, { model }));
    expect(heard.map(({ source }) => source)).toEqual(['batch', 'batch', 'batch']);
    expect(scene.simulator.meter.total).toBe(3);
    expect(saved).toBeGreaterThan(0);
  });
});

describe('a file that was uploaded before the program was killed', () => {
  it('is used and not uploaded again when the same is asked', async () => {
    scene = await openScene('openai');
    const { simulator } = scene;
    const flag = `${scene.store}.flag`;
    simulator.faults.add({ path: '/v1/files', action: { kind: 'delay', ms: 150 } });
    const asker = await startAsker(scene.input(three, { kill: { commit: flag, when: 'after' } }));
    await until(() => simulator.countRequests('POST', '/v1/files') === 1, 'the upload');
    putUp(flag);
    expect((await asker.ended).signal).toBe('SIGKILL');
    expect(simulator.countRequests('POST', '/v1/batches')).toBe(0);
    const { heard } = await askToTheEnd(scene.input(three));
    expect(await judge(simulator, three, heard)).toEqual(fine);
    expect(simulator.countRequests('POST', '/v1/files')).toBe(1);
  });

  it('is left aside when only a part of it is asked', async () => {
    scene = await openScene('openai');
    const { simulator } = scene;
    await killAt(scene.input(three), 'the create is under way');
    const { heard } = await askToTheEnd(scene.input(['blue']));
    expect(await judge(simulator, ['blue'], heard)).toEqual(fine);
    expect(simulator.countRequests('POST', '/v1/files')).toBe(2);
  });
});

describe.each(['openai', 'anthropic'] as const)('with another key: %s', (provider) => {
  it.each([
    ['accepted', 'a poll is under way'],
    ['perhaps accepted', 'the create was accepted, its answer is on the way'],
  ])('a batch that was %s is not sent again, and the caller hears why', async (_, at) => {
    scene = await openScene(provider);
    await killAt(scene.input(three), at);
    const sent = own();
    const { heard } = await askToTheEnd(scene.input(three, { apiKey: 'sk-rotated-key' }));
    for (const { status, error } of heard) {
      expect(status).toBe(409);
      expect(error).toContain('BATCH_UNDER_OTHER_KEY');
    }
    expect(own()).toBe(sent);
    const withTheFirst = await askToTheEnd(scene.input(three));
    expect(await judge(scene.simulator, three, withTheFirst.heard)).toEqual(fine);
  });
});

describe.each(['openai', 'anthropic'] as const)(
  'with another key of the same workspace: %s',
  (provider) => {
    const first = 'sk-first@team';
    const second = 'sk-second@team';

    it.each([
      ['a batch that was accepted is collected', 'a poll is under way', 0],
      [
        'a batch that was perhaps accepted is found',
        'the create was accepted, its answer is on',
        0,
      ],
      ['a batch that never was is sent again', 'the create is under way', 1],
    ])('%s, and nothing is paid for twice', async (_, at, more) => {
      scene = await openScene(provider);
      const { simulator } = scene;
      // By a batch from before, the second key is known to belong to Anthropic's workspace.
      if (provider === 'anthropic') await askToTheEnd(scene.input(['old'], { apiKey: first }));
      simulator.meter.reset();
      await killAt(scene.input(three, { apiKey: first }), at);
      const sent = own();
      const { heard } = await askToTheEnd(scene.input(three, { apiKey: second }));
      expect(await judge(simulator, three, heard)).toEqual(fine);
      expect(own()).toBe(sent + more);
    });

    it('the first batch ever, perhaps accepted, is found', async () => {
      scene = await openScene(provider);
      await killAt(
        scene.input(three, { apiKey: first }),
        'the create was accepted, its answer is on the way',
      );
      const { heard } = await askToTheEnd(scene.input(three, { apiKey: second }));
      expect(await judge(scene.simulator, three, heard)).toEqual(fine);
    });
  },
);

/** Before the answer goes out: at once, for the answer waits only for a timer. */
function putUp(flag: string): void {
  writeFileSync(flag, '');
}

function own(): number {
  return scene.simulator.countRequests('POST', /\/batches$/);
}
