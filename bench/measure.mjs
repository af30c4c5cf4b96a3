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
  const wall = performance.now() - startedAt;
  const { maxRSS } = process.resourceUsage();
  checkAnswers(prompts, answers);
  const cost = {
    cpuMicroseconds: cpu / count,
    memoryMegabytes: maxRSS / 1024,
    wallSeconds: wall / 1000,
  };
  process.stdout.write(`${JSON.stringify(cost)}\n`);
}

function sum({ user, system }) {
  return user + system;
}
