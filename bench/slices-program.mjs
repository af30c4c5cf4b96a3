// Cuts a run into its slices: node slices-program.mjs <base URL> <count> <store>
import { batchify } from '../dist/index.js';
import { bodyOf, makePrompts } from './bodies.mjs';
import { pollMilliseconds } from './measure.mjs';
import { startProfile } from './slices-profile.mjs';
import { watchSlices } from './slices-watch.mjs';

const [base, count, store] = process.argv.slice(2);
const bodies = makePrompts(Number(count)).map((prompt) => JSON.stringify(bodyOf(prompt)));
const options = { hosts: { [base]: 'openai' }, store, poll: pollMilliseconds, display: 'none' };

const profile = await startProfile();
const watch = watchSlices();
await batchify(() => {
  watch.call('the program makes its calls');
  return Promise.all(bodies.map(ask));
}, options);
const { slices: whole, collections } = watch.stop();
const samples = await profile.stop();

const slices = whole.map((slice) => ({ ...slice, own: Math.max(0, slice.own - idleIn(slice)) }));
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
    longest: ours.slice(0, 15).map((slice) => ({ ...slice, places: placesIn(slice) })),
    places: placesOf(ours.filter(({ own }) => own > 10)),
    collections: {
      count: collections.length,
      over: collections.filter(({ duration }) => duration > 10).length,
      longest: Math.max(0, ...collections.map(({ duration }) => duration)),
    },
  })}\n`,
);

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

function idleIn(slice) {
  let idle = 0;
  for (const { place, milliseconds } of samplesIn(slice)) {
    if (place.endsWith(' (idle)')) idle += milliseconds;
  }
  return idle;
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
