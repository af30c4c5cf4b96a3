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
const watch = watchSlices(0.05);
await batchify(() => {
  watch.call('the program makes its calls');
  return Promise.all(bodies.map(ask));
}, options);
const { slices, collections } = watch.stop();
const samples = await profile.stop();

const ours = slices.filter(({ name }) => name === '').sort((a, b) => b.own - a.own);
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

function placesIn({ from, until }) {
  const spent = new Map();
  for (const { at, milliseconds, place } of samples) {
    if (at >= from && at <= until) spent.set(place, (spent.get(place) ?? 0) + milliseconds);
  }
  return [...spent].sort(([, a], [, b]) => b - a).slice(0, 4);
}

/** In how many of these slices each module took the most time. */
function placesOf(long) {
  const modules = new Map();
  for (const slice of long) {
    const first =
      placesIn(slice).find(([place]) => !/^elsewhere|garbage/.test(place))?.[0] ?? 'elsewhere';
    const module = first.split(' ')[0];
    modules.set(module, (modules.get(module) ?? 0) + 1);
  }
  return [...modules].sort(([, a], [, b]) => b - a);
}
