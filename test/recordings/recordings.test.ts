import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { builtInInfos } from '../../src/batchers/registry.ts';
import type { Recording } from '../../src/cli/doctor/recording.ts';
import { type Simulator, startSimulator } from '../../src/simulator/index.ts';
import { batcherOf, differences, replay, simulated } from './replay.ts';

const root = new URL('.', import.meta.url);
const recordings = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.json'))
  .map((path) => {
    const recording = JSON.parse(readFileSync(new URL(path, root), 'utf8')) as Recording;
    return { path, recording };
  });

let simulator: Simulator;
beforeAll(async () => {
  // Slow enough that a cancel comes before the end.
  simulator = await startSimulator({ speed: { validating: 20, running: 200, cancelling: 2 } });
});
afterAll(() => simulator.close());

it.each(recordings)('$path is understood as it was', async ({ recording }) => {
  const batcher = await batcherOf(recording);
  const { finished, cancelled } = recording;
  expect(await replay(batcher, recording, finished, false)).toEqual(finished.outcome);
  if (cancelled) {
    expect(await replay(batcher, recording, cancelled, true)).toEqual(cancelled.outcome);
  }
});

it.each(recordings)(
  '$path: the simulator answers in the same shape',
  async ({ path, recording }) => {
    const batcher = await batcherOf(recording);
    const { finished, cancelled } = recording;
    const theirs = [...finished.exchanges, ...(cancelled?.exchanges ?? [])];
    const found = differences(theirs, await simulated(simulator, batcher, recording));
    if (process.env.npm_lifecycle_event === 'test:recordings') {
      for (const { where, recorded, simulated } of found) {
        console.log(
          `${path}: ${where}: ${recorded} in the recording, ${simulated} of the simulator`,
        );
      }
    }
    // A field that only one of both has is no error: providers add fields, and leave them out.
    const isNothing = (type: string) => type === 'none' || type === 'null';
    const types = (text: string) => text.split(' or ').filter((type) => !isNothing(type));
    const other = found.filter(({ recorded, simulated }) => {
      const [one, another] = [types(recorded), types(simulated)];
      return one.length > 0 && another.length > 0 && !one.some((type) => another.includes(type));
    });
    expect(other).toEqual([]);
  },
);

it('docs/live-checks.md has the date of each live check', () => {
  const page = readFileSync(new URL('../../docs/live-checks.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| `(\w+)` \| ([\d-]+|never) \|$/gm)];
  const names = builtInInfos.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(rows.map(([, name]) => name)));
  for (const { recording } of recordings) expect(page).toContain(`| \`${recording.provider}\` |`);
  for (const [, name, date] of rows) {
    const dates = recordings.flatMap(({ recording }) =>
      recording.provider === name ? (recording.recorded ?? []) : [],
    );
    expect(date).toBe(dates.sort().at(-1) ?? 'never');
  }
});
