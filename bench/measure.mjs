import { readFileSync } from 'node:fs';
import { bodyOf, checkAnswers, makePrompts } from './bodies.mjs';

/** Asked of the batch endpoint by both programs. */
export const pollMilliseconds = 50;

/**
 * Runs `answerAll(bodies)` once and prints what it cost: all CPU time of this process from its
 * start, loading modules included, less the making of the prompts.
 */
export async function measure(count, answerAll) {
  const loaded = process.cpuUsage();
  const prompts = makePrompts(count);
  const making = process.cpuUsage(loaded);
  const startedAt = performance.now();
  const answers = await answerAll(prompts.map(bodyOf));
  const cpu = sum(process.cpuUsage()) - sum(making);
  const mainShare = shareOfMainThread();
  const wall = performance.now() - startedAt;
  const { maxRSS } = process.resourceUsage();
  checkAnswers(prompts, answers);
  const cost = {
    cpuMicroseconds: cpu / count,
    mainShare,
    memoryMegabytes: maxRSS / 1024,
    wallSeconds: wall / 1000,
  };
  process.stdout.write(`${JSON.stringify(cost)}\n`);
}

/** The rest is V8's: it compiles and collects garbage in threads of its own. Only Linux tells them apart. */
function shareOfMainThread() {
  if (process.platform !== 'linux') return 1;
  const [nanoseconds] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1000 / sum(process.cpuUsage());
}

function sum({ user, system }) {
  return user + system;
}
