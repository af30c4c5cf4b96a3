import { subscribe } from 'node:diagnostics_channel';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BatchifyOptions, batchify } from '../../../../src/index.ts';
import { readInput } from '../parts/read-input.ts';

export interface TerminalJob {
  /** Base URL of chat completions. */
  readonly baseURL: string;
  readonly options: BatchifyOptions;
  readonly calls: number;
  /** So many at once; without it all are. */
  readonly atOnce?: number;
  /** What the program itself prints while it waits, piece by piece. */
  readonly prints?: readonly string[];
  /** Throws this while its calls wait. */
  readonly throws?: string;
}

const { baseURL, options, calls, atOnce = calls, prints = [], throws } = readInput<TerminalJob>();

async function ask(content: string): Promise<unknown> {
  const response = await fetch(`${baseURL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test-key', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content }] }),
  });
  return response.json();
}

async function chatter(): Promise<void> {
  for (const text of prints) {
    process.stdout.write(text);
    await sleep(60);
  }
}

const sent = new Promise<unknown>((resolve) => {
  subscribe('batchling:batch:submitted', resolve);
});

async function work(): Promise<void> {
  const talked = prints.length > 0 ? sent.then(chatter) : undefined;
  if (throws !== undefined) {
    for (let at = 0; at < calls; at += 1) ask(`question ${at}`).catch(() => undefined);
    await sent;
    throw new Error(throws);
  }
  for (let at = 0; at < calls; at += atOnce) {
    const round = Array.from({ length: Math.min(atOnce, calls - at) }, (_, one) => at + one);
    await Promise.all(round.map((one) => ask(`question ${one}`)));
  }
  await talked;
}

try {
  await batchify(work, options);
} catch (error) {
  console.log(`the program failed: ${(error as Error).message}`);
  process.exitCode = 1;
}
