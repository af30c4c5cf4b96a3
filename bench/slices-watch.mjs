import { createHook } from 'node:async_hooks';
import { openSync, readSync } from 'node:fs';
import { PerformanceObserver, performance } from 'node:perf_hooks';

/** What the event loop calls from its own turns; promises and ticks run inside of such a call. */
const turns = new Set([
  'Timeout',
  'Immediate',
  'TCPWRAP',
  'TCPSERVERWRAP',
  'TCPCONNECTWRAP',
  'PIPEWRAP',
  'WRITEWRAP',
  'SHUTDOWNWRAP',
  'FSREQCALLBACK',
  'FSREQPROMISE',
  'GETADDRINFOREQWRAP',
  'MESSAGEPORT',
]);

/**
 * Cuts the time of this thread into slices: from one call of the event loop to the next, with the
 * promises and ticks that ran in between, on Linux less the time this thread stood in line for a
 * processor. A timer that looks how late it is would only see the sum of all slices in one turn of the
 * loop. Idle time is still in it: libuv's own count of it suffers from the signals of the profiler.
 */
export function watchSlices() {
  const slices = [];
  const collections = [];
  const ids = new Set();
  let name = '';
  let from = performance.now();
  let inLine = waited();
  let isLoop = true;
  let mostNested = 0;

  function cut() {
    const now = performance.now();
    const inLineNow = waited();
    slices.push({ name, from, until: now, busy: now - from - (inLineNow - inLine) });
    from = now;
    inLine = inLineNow;
    name = '';
  }

  const hook = createHook({
    init(id, type) {
      if (turns.has(type)) ids.add(id);
    },
    before(id) {
      if (!ids.has(id)) return;
      if (isLoop) cut();
      isLoop = false;
      mostNested += 1;
    },
    after(id) {
      if (!ids.has(id)) return;
      mostNested -= 1;
      if (mostNested === 0) isLoop = true;
    },
  }).enable();
  const observer = new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) {
      collections.push({ from: startTime, until: startTime + duration, duration });
    }
  });
  observer.observe({ entryTypes: ['gc'] });

  return {
    /** Gives the slice that is running a name of the program's own. */
    call(given) {
      name = given;
    },
    stop() {
      cut();
      hook.disable();
      for (const { startTime, duration } of observer.takeRecords()) {
        collections.push({ from: startTime, until: startTime + duration, duration });
      }
      observer.disconnect();
      return { slices: slices.map((slice) => withoutCollections(slice, collections)), collections };
    },
  };
}

const statistics = openStatistics();
const text = Buffer.alloc(128);

function openStatistics() {
  try {
    return openSync('/proc/thread-self/schedstat');
  } catch {
    return undefined;
  }
}

/** Milliseconds this thread was ready to run, and another one ran. */
function waited() {
  if (statistics === undefined) return 0;
  const length = readSync(statistics, text, 0, text.length, 0);
  return Number(text.toString('latin1', 0, length).split(' ')[1]) / 1e6;
}

function withoutCollections(slice, collections) {
  let collecting = 0;
  for (const { from, until } of collections) {
    collecting += Math.max(0, Math.min(until, slice.until) - Math.max(from, slice.from));
  }
  // Both count the time in which another process had the processor: never less than nothing.
  return { ...slice, collecting, own: Math.max(0, slice.busy - collecting) };
}
