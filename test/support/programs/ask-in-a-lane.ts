import { subscribe } from 'node:diagnostics_channel';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { type FastTime, fastClock } from './parts/fast-clock.ts';
import { readInput } from './parts/read-input.ts';

/** Asks many questions in a lane. It is killed after `diesAfter` answers, and prints what it did otherwise. */
const { count, diesAfter, baseURL, time, options } = readInput<{
  count: number;
  diesAfter?: number;
  baseURL: string;
  time: FastTime;
  options: BatchifyOptions;
}>();
let answered = 0;
subscribe('batchling:call:answered', () => {
  answered += 1;
  if (answered === diesAfter) process.kill(process.pid, 'SIGKILL');
});

const headers = { 'content-type': 'application/json', authorization: 'Bearer sk-test-key' };
const statuses: Record<number, number> = {};
async function ask(content: string): Promise<string> {
  const body = JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content }] });
  const response = await fetch(`${baseURL}/chat/completions`, { method: 'POST', headers, body });
  statuses[response.status] = (statuses[response.status] ?? 0) + 1;
  const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
  return choices[0]?.message.content ?? '';
}

const scope = batchify({ ...options, clock: fastClock(time) });
const questions = Array.from({ length: count }, (_, index) => `question ${index}.`);
const answers = await scope.run(() => Promise.all(questions.map(ask)));
await scope.close();
const right = answers.filter((answer, index) => answer.includes(`"${questions[index]}"`)).length;
console.log(JSON.stringify({ right, statuses, stats: scope.stats }));
