import { bodyOf, checkAnswers, makePrompts } from './bodies.mjs';

/** Asked of the batch endpoint by both programs. */
export const pollMilliseconds = 50;

/**
 * Runs `answerAll(bodies)` once and prints what it cost this process. Loading modules and writing
 * the prompts comes before the clock starts; reading every answer as an object is part of the work.
 */
export async function measure(count, answerAll) {
  const prompts = makePrompts(count);
  const startedAt = performance.now();
  const before = process.cpuUsage();
  const answers = await answerAll(prompts.map(bodyOf));
  const { user, system } = process.cpuUsage(before);
  const wall = performance.now() - startedAt;
  const { maxRSS } = process.resourceUsage();
  checkAnswers(prompts, answers);
  const cost = {
    cpuMicroseconds: (user + system) / count,
    memoryMegabytes: maxRSS / 1024,
    wallSeconds: wall / 1000,
  };
  process.stdout.write(`${JSON.stringify(cost)}\n`);
}
