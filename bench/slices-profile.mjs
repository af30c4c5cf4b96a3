import { Session } from 'node:inspector/promises';
import { performance } from 'node:perf_hooks';

/** Who ran when: a sample of the stack every half millisecond. */
export async function startProfile() {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 500 });
  // Its times are those of the system's monotonic clock, as are these.
  const offset = Number(process.hrtime.bigint()) / 1e6 - performance.now();
  await session.post('Profiler.start');
  return {
    async stop() {
      const { profile } = await session.post('Profiler.stop');
      session.disconnect();
      return samplesOf(profile, offset);
    },
  };
}

/** Samples as `{ at, milliseconds, place, isLoading }`, in the time of `performance.now()`. */
function samplesOf({ nodes, samples, timeDeltas, startTime }, offset) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  for (const node of nodes) {
    for (const child of node.children ?? []) byId.get(child).parent = node;
  }
  const places = new Map(nodes.map((node) => [node.id, placeOf(node)]));
  const loading = new Set(nodes.filter(isLoading).map(({ id }) => id));
  let at = startTime / 1_000;
  return samples.map((id, index) => {
    const milliseconds = timeDeltas[index] / 1_000;
    at += milliseconds;
    return { at: at - offset, milliseconds, place: places.get(id), isLoading: loading.has(id) };
  });
}

/** Within Node's loader: finding, compiling and running a module, its own ones included. */
function isLoading(node) {
  for (let frame = node; frame; frame = frame.parent) {
    if (/^node:internal\/(modules|bootstrap)\//.test(frame.callFrame.url)) return true;
  }
  return false;
}

const dependency = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//;

/** The innermost file of ours on the stack, with its function; else whatever was on top. */
function placeOf(node) {
  const { url: topUrl, functionName: topName } = node.callFrame;
  const top = topName || '(anonymous)';
  for (let frame = node; frame; frame = frame.parent) {
    const { url, functionName } = frame.callFrame;
    const ours = dependency.test(url) ? undefined : /\/dist\/(.+)\.js$/.exec(url)?.[1];
    if (ours && frame === node) return `${ours} ${top}`;
    if (ours) return `${ours} ${functionName || '(anonymous)'} → ${top}`;
  }
  if (/slices-watch|async_hooks/.test(topUrl)) return `the instrument: ${top}`;
  if (topUrl.includes('/bench/')) return `the program: ${top}`;
  return `elsewhere: ${dependency.exec(topUrl)?.[1] ?? ''} ${top}`;
}
