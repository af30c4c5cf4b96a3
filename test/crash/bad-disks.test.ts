import { mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { askToTheEnd, type Heard, startAsker } from '../support/processes/asker.ts';
import { until } from '../support/until.ts';
import { networkPoint, setTrap } from './parts/kills.ts';
import { openScene, type Scene } from './parts/scene.ts';
import { mountTinyDisk, type TinyDisk, whyNoTinyDisk } from './parts/tiny-disk.ts';
import { judge } from './parts/verdict.ts';

const fine = { billedTwice: 0, lost: 0, wrong: 0, complaints: [] };
const three = ['red', 'green', 'blue'];
const reason = whyNoTinyDisk();

let scene: Scene;
let disk: TinyDisk | undefined;
afterEach(async () => {
  await scene.close();
  await disk?.close();
  disk = undefined;
});

async function openDisk(size: string): Promise<{ disk: TinyDisk; store: string }> {
  disk = await mountTinyDisk(size);
  return { disk, store: join(disk.folder, 'ledger.db') };
}

function expectStoreErrors(heard: readonly Heard[]): void {
  expect(heard).toHaveLength(three.length);
  for (const { status, error } of heard) {
    expect(status).toBe(500);
    expect(error).toMatch(/The ledger .* cannot be used/);
  }
}

/** A mark may still fit into space that SQLite has reserved; then each has its own answer. */
function expectWords(heard: readonly Heard[]): void {
  if (heard.some(({ text }) => text === undefined)) {
    expectStoreErrors(heard);
    return;
  }
  expect(heard.map(({ text }) => /^answer to "(\w+)"/.exec(text ?? '')?.[1])).toEqual(three);
}

const spoil: Record<string, () => Promise<string>> = {
  'is no database': async () => {
    await writeFile(scene.store, Buffer.alloc(8_192, 'not a database '));
    return scene.store;
  },
  'is damaged': async () => {
    await askToTheEnd(scene.input(['before']));
    scene.simulator.reset();
    // The header stays, the pages after it are noise.
    const noise = Buffer.alloc(60_000, 0xa7);
    const file = await open(scene.store, 'r+');
    await file.write(noise, 0, noise.length, 100);
    await file.close();
    return scene.store;
  },
  'is a folder': async () => {
    await mkdir(scene.store);
    return scene.store;
  },
};

describe.each(Object.entries(spoil))('a ledger that %s', (_, prepare) => {
  it('is a clear error for every caller, and nothing is sent', async () => {
    scene = await openScene('openai');
    const store = await prepare();
    const { heard } = await askToTheEnd(scene.input(three, { options: { store } }));
    expectStoreErrors(heard);
    expect(scene.simulator.requests).toHaveLength(0);
  });

  it('is done without when the program says so', async () => {
    scene = await openScene('openai');
    const options = { store: await prepare(), onStoreError: 'continue' as const };
    const { heard } = await askToTheEnd(scene.input(three, { options }));
    expect(await judge(scene.simulator, three, heard)).toEqual(fine);
  });
});

describe.skipIf(reason !== undefined)(`a full disk${reason ? ` (${reason})` : ''}`, () => {
  it('is a clear error for every caller, and nothing is sent', async () => {
    scene = await openScene('openai');
    const { disk, store } = await openDisk('512k');
    disk.fill();
    const { heard } = await askToTheEnd(scene.input(three, { options: { store } }));
    expectStoreErrors(heard);
    expect(scene.simulator.requests).toHaveLength(0);
  });

  it('is done without when the program says so', async () => {
    scene = await openScene('openai');
    const { disk, store } = await openDisk('512k');
    disk.fill();
    const options = { store, onStoreError: 'continue' as const };
    const { heard } = await askToTheEnd(scene.input(three, { options }));
    expect(await judge(scene.simulator, three, heard)).toEqual(fine);
  });

  it('before the batch is created leaves no caller without a word, and nothing is billed twice', async () => {
    scene = await openScene('openai');
    const { simulator } = scene;
    const { disk, store } = await openDisk('4m');
    const input = scene.input(three, { options: { store } });
    simulator.faults.add({ path: '/v1/files', action: { kind: 'delay', ms: 150 } });
    const asker = await startAsker(input);
    await until(() => simulator.countRequests('POST', '/v1/files') === 1, 'the upload');
    disk.fill();
    expectWords((await asker.ended).output?.heard ?? []);
    disk.free();
    const { heard } = await askToTheEnd(input);
    expect(await judge(simulator, three, heard)).toEqual(fine);
  });

  it('while a killed run is continued leaves no caller without a word', async () => {
    scene = await openScene('openai');
    const { simulator } = scene;
    const { disk, store } = await openDisk('4m');
    const input = scene.input(three, { options: { store } });
    const trap = setTrap(simulator, networkPoint('openai', 'the create is under way'));
    await trap(await startAsker(input));
    const asker = await startAsker(input);
    await until(() => simulator.countRequests('GET', '/v1/batches') > 0, 'a look');
    disk.fill();
    expectWords((await asker.ended).output?.heard ?? []);
    disk.free();
    const { heard } = await askToTheEnd(input);
    expect(await judge(simulator, three, heard)).toEqual(fine);
  });

  it('that fills up after the batch was accepted still delivers what was paid', async () => {
    scene = await openScene('openai');
    const { disk, store } = await openDisk('4m');
    const prompts = Array.from({ length: 50 }, (_, index) => `${index} ${'long '.repeat(300)}`);
    const input = scene.input(prompts, { options: { store } });
    scene.simulator.hold();
    const asker = await startAsker(input);
    await until(() => scene.simulator.countRequests('GET', /batches/) > 0, 'a poll');
    disk.fill();
    scene.simulator.release();
    const { output } = await asker.ended;
    expect(await judge(scene.simulator, prompts, output?.heard ?? [])).toEqual(fine);
    // What could not be stored is read at the provider again, and not paid for again.
    disk.free();
    const again = await askToTheEnd(input);
    expect(again.heard.map(({ text }) => text)).toEqual(output?.heard.map(({ text }) => text));
    expect(scene.simulator.meter.total).toBe(prompts.length);
  });
});
