import { expect, it } from 'vitest';
import { inLanes } from '../support/lanes.ts';
import type { KillPoint } from '../support/processes/asker.ts';
import { wiredProviders } from '../support/provider-wires.ts';
import { type Seeded, seeded, seedFrom } from '../support/seeded.ts';
import { playCrowd } from './parts/crowd.ts';
import { killAtEveryCommit, lanes } from './parts/enumerate.ts';
import { playHistory } from './parts/history.ts';
import { type Kill, networkPoints } from './parts/kills.ts';
import { plotsOf } from './parts/plots.ts';
import type { Provider } from './parts/scene.ts';
import { addVerdict, noVerdict, type Verdict } from './parts/verdict.ts';

/** `BATCHLING_CRASH_SEED=… npm run test:crash` plays the same kills again. */
const seed = seedFrom('BATCHLING_CRASH_SEED');
/** Per provider. A slow or busy machine gets through fewer plots; the summary says how many kills. */
const usualSeconds = 280;
const seconds = Number(process.env.BATCHLING_CRASH_SECONDS ?? usualSeconds);

/** `BATCHLING_CRASH_PROVIDERS`: their names; `some`: the two base wires, and one that the seed picks. */
const asked = process.env.BATCHLING_CRASH_PROVIDERS ?? 'all';
const base: readonly Provider[] = ['openai', 'anthropic'];
const others = wiredProviders.filter((name) => !base.includes(name));
const chosen =
  asked === 'all'
    ? wiredProviders
    : asked === 'some'
      ? [...base, seeded(seed).pick(others)]
      : wiredProviders.filter((name) => asked.split(',').includes(name));

/** What there is no time for counts for nothing. */
const inTime =
  <T>(enough: number, play: (item: T) => Promise<Verdict>) =>
  async (item: T): Promise<Verdict> =>
    performance.now() > enough ? noVerdict() : play(item);

it.each(chosen)(
  'nothing is billed twice, lost or wrong, whenever the program is killed: %s',
  async (provider) => {
    const random = seeded(seed);
    console.log(`crash ${provider}: BATCHLING_CRASH_SEED=${seed}, ${seconds} s`);
    const began = performance.now();
    /** A short storm is a little of each part. */
    const until = (share: number) => began + share * seconds * 1_000;
    const parts = {
      'while talking to the provider': await whileTalking(provider, random, until(0.3)),
      'at random moments': await atRandomMoments(provider, random, until(0.5)),
      'in crowds': await inCrowds(provider, random, until(0.7)),
      'around commits': await aroundCommits(provider, until(1)),
    };
    const sum = Object.values(parts).reduce(addVerdict, noVerdict());
    for (const [part, { kills }] of Object.entries(parts))
      console.log(`${provider}: ${kills} ${part}`);
    console.log(
      `crash ${provider}: ${sum.kills} kill points, ${sum.billedTwice} billed twice, ` +
        `${sum.lost} lost, ${sum.wrong} wrong (BATCHLING_CRASH_SEED=${seed})`,
    );
    expect(sum.complaints).toEqual([]);
    expect(sum).toMatchObject({ billedTwice: 0, lost: 0, wrong: 0 });
    expect(sum.kills).toBeGreaterThan(seconds >= usualSeconds ? 150 : 0);
  },
);

/** Every commit of every plot; every second program is killed once more while it recovers. */
async function aroundCommits(provider: Provider, enough: number): Promise<Verdict> {
  let sum = noVerdict();
  for (const [index, plot] of plotsOf(provider).entries()) {
    if (performance.now() > enough) {
      console.log(`${provider}: no time left for "${plot.name}"`);
      continue;
    }
    const sides: KillPoint['when'][] = index < 4 ? ['before', 'after'] : ['before'];
    // A generator per kill point: how many there are differs a little from time to time.
    const more = ({ commit, when }: KillPoint) =>
      someCommits(seeded(seed + 1_000 * index + 2 * Number(commit) + sides.indexOf(when)));
    const once = await killAtEveryCommit(plot, sides, more, enough);
    sum = addVerdict(sum, once);
  }
  return sum;
}

function someCommits(random: Seeded): Kill[] {
  const commits = random.pick([0, 1, 0, 2]);
  return Array.from({ length: commits }, () => ({
    commit: random.between(1, 12),
    when: random.pick(['before', 'after']),
  }));
}

async function whileTalking(provider: Provider, random: Seeded, enough: number): Promise<Verdict> {
  const points = networkPoints(provider);
  const plays = plotsOf(provider)
    .slice(1, 4)
    .flatMap((plot) => points.map((point) => ({ plot, kills: [point, random.pick(points)] })));
  const play = inTime<(typeof plays)[number]>(enough, ({ plot, kills }) =>
    playHistory(plot, kills),
  );
  const histories = await inLanes(plays, lanes, play);
  return histories.reduce<Verdict>(addVerdict, noVerdict());
}

async function atRandomMoments(
  provider: Provider,
  random: Seeded,
  enough: number,
): Promise<Verdict> {
  const plays = Array.from({ length: 24 }, () => ({
    plot: random.pick(plotsOf(provider)),
    kills: Array.from({ length: 3 }, () => ({ after: random.between(150, 900) })),
  }));
  const play = inTime<(typeof plays)[number]>(enough, ({ plot, kills }) =>
    playHistory(plot, kills),
  );
  const histories = await inLanes(plays, lanes, play);
  return histories.reduce<Verdict>(addVerdict, noVerdict());
}

async function inCrowds(provider: Provider, random: Seeded, enough: number): Promise<Verdict> {
  let sum = noVerdict();
  for (let round = 0; round < 5 && performance.now() < enough; round += 1) {
    sum = addVerdict(sum, await playCrowd(provider, random));
  }
  return sum;
}
