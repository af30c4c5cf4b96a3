// Cuts a run into its slices: node slices-program.mjs <base URL> <count> <store> <size>
import { batchify } from '../dist/index.js';
import { bodyOf, makePrompts } from './bodies.mjs';
import { pollMilliseconds } from './measure.mjs';
import { startProfile } from './slices-profile.mjs';
import { watchSlices } from './slices-watch.mjs';

const [base, count, store, size] = process.argv.slice(2);
const bodies = makePrompts(Number(count)).map((prompt) => JSON.stringify(bodyOf(prompt)));
const options = {
  hosts: { [base]: 'openai' },
  store,
  batchSize: Number(size),
  poll: pollMilliseconds,
  display: 'none',
};

const profile = await startProfile();
const watch = watchSlices();
await batchify(() => {
  watch.call('the program makes its calls');
  return Promise.all(bodies.map(ask));
}, options);
const { slices: whole, collections } = watch.stop();
const samples = await profile.stop();

const slices = whole.map(withoutOthers);
// What is shorter than that is the work of Node itself between two calls.
const ours = slices
  .filter(({ name, own }) => name === '' && own > 0.05)
  .sort((a, b) => b.own - a.own);
process.stdout.write(
  `${JSON.stringify({
    program: slices.filter(({ name }) => name !== ''),
    count: ours.length,
    median: ours[ours.length >> 1]?.own,
    over: ours.filter(({ own }) => own > 10).length,
    longest: ours
      .slice(0, Number(process.env.LONGEST ?? 15))
      .map((slice) => ({ ...slice, places: placesIn(slice) })),
    places: placesOf(ours.filter(({ own }) => own > 10)),
    loading: loadingOf(slices.map(({ loading }) => loading)),
    collections: {
      count: collections.length,
      over: collections.filter(({ duration }) => duration > 10).length,
      longest: Math.max(0, ...collections.map(({ duration }) => duration)),
    },
  })}\n`,
);

function loadingOf(times) {
  return {
    total: times.reduce((sum, time) => sum + time, 0),
    over: times.filter((time) => time > 10).length,
    longest: Math.max(0, ...times),
  };
}

async function ask(body) {
  const response = await fetch(`${base}/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-bench', 'content-type': 'application/json' },
    body,
  });
  return response.json();
}

function samplesIn({ from, until }) {
  return samples.slice(firstFrom(from), firstFrom(until));
}

/** The first sample from then on; they are in order. */
function firstFrom(moment) {
  let [low, high] = [0, samples.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (samples[middle].at < moment) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Less the time of waiting for work, of the instrument itself (its hooks run for every promise), and of
 * loading modules, which Node does not let anybody cut.
 */
function withoutOthers(slice) {
  let others = 0;
  let loading = 0;
  // Node does not report all of it.
  let collecting = -slice.collecting;
  for (const { place, milliseconds, isLoading } of samplesIn(slice)) {
    if (/ \(idle\)$|^the instrument:/.test(place)) others += milliseconds;
    else if (place.endsWith(' (garbage collector)')) collecting += milliseconds;
    else if (isLoading) loading += milliseconds;
  }
  others += Math.max(0, collecting);
  return { ...slice, loading, own: Math.max(0, slice.own - others - loading) };
}

function placesIn(slice) {
  const spent = new Map();
  for (const { milliseconds, place } of samplesIn(slice)) {
    spent.set(place, (spent.get(place) ?? 0) + milliseconds);
  }
  return [...spent].sort(([, a], [, b]) => b - a).slice(0, 4);
}

/** In how many of these slices each module of ours took the most time. */
function placesOf(long) {
  const modules = new Map();
  for (const slice of long) {
    const ours = placesIn(slice).find(
      ([place]) => !/^(elsewhere|the program|the instrument):/.test(place),
    );
    const module = ours?.[0].split(' ')[0] ?? 'none of ours';
    modules.set(module, (modules.get(module) ?? 0) + 1);
  }
  return [...modules].sort(([, a], [, b]) => b - a);
}
