import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServer, type TestServer } from '../../src/ledger/postgres/test/server.test-helper.ts';
import { inLanes } from '../support/lanes.ts';
import { seeded, seedFrom } from '../support/seeded.ts';
import { killAtEveryCommit, lanes } from './parts/enumerate.ts';
import { playFleet } from './parts/fleet.ts';
import { playHistory } from './parts/history.ts';
import { networkPoints } from './parts/kills.ts';
import { plotsOf } from './parts/plots.ts';
import type { Provider } from './parts/scene.ts';
import { addVerdict, noVerdict, type Verdict } from './parts/verdict.ts';

const seed = seedFrom('BATCHLING_CRASH_SEED');
/** Per provider. */
const seconds = Number(process.env.BATCHLING_CRASH_SECONDS ?? 280);

let server: TestServer;
let schemas = 0;
beforeAll(async () => {
  server = await startServer(['max_connections=200']);
});
afterAll(() => server.remove());

function newDatabase(): string {
  schemas += 1;
  return `${server.url}?schema=crash_${schemas}&lease=2s`;
}

it.each(['openai', 'anthropic'] as const)(
  'nothing is billed twice, lost or wrong, whatever happens to machines that share a database: %s',
  async (provider) => {
    const began = performance.now();
    const until = (share: number) => began + share * seconds * 1_000;
    const parts = {
      'in fleets': await inFleets(provider, until(0.5)),
      'while talking to the provider': await whileTalking(provider, until(0.7)),
      'around commits': await aroundCommits(provider, until(1)),
    };
    const sum = Object.values(parts).reduce(addVerdict, noVerdict());
    for (const [part, { kills }] of Object.entries(parts))
      console.log(`PostgreSQL, ${provider}: ${kills} ${part}`);
    console.log(
      `crash PostgreSQL, ${provider}: ${sum.kills} points, ${sum.billedTwice} billed twice, ` +
        `${sum.lost} lost, ${sum.wrong} wrong (BATCHLING_CRASH_SEED=${seed})`,
    );
    expect(sum.complaints).toEqual([]);
    expect(sum).toMatchObject({ billedTwice: 0, lost: 0, wrong: 0 });
    expect(sum.kills).toBeGreaterThan(0);
  },
);

/** Killed, stopped, cut off, with clocks that differ, and a server that restarts. */
async function inFleets(provider: Provider, enough: number): Promise<Verdict> {
  let sum = noVerdict();
  for (let round = 0; performance.now() < enough; round += 1) {
    const random = seeded(seed + round);
    sum = addVerdict(sum, await playFleet(provider, random, server, newDatabase()));
  }
  return sum;
}

async function whileTalking(provider: Provider, enough: number): Promise<Verdict> {
  const random = seeded(seed);
  const points = networkPoints(provider);
  const plays = plotsOf(provider)
    .slice(1, 4)
    .flatMap((plot) => points.map((point) => ({ plot, kills: [point, random.pick(points)] })));
  const histories = await inLanes(plays, lanes, async ({ plot, kills }) =>
    performance.now() > enough
      ? noVerdict()
      : playHistory({ ...plot, database: newDatabase }, kills),
  );
  return histories.reduce<Verdict>(addVerdict, noVerdict());
}

async function aroundCommits(provider: Provider, enough: number): Promise<Verdict> {
  let sum = noVerdict();
  for (const plot of plotsOf(provider).slice(1)) {
    if (performance.now() > enough) break;
    const inDatabase = { ...plot, database: newDatabase };
    const once = await killAtEveryCommit(inDatabase, ['before', 'after'], () => [], enough);
    sum = addVerdict(sum, once);
  }
  return sum;
}
