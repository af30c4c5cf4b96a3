import { spawn } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { readInput } from '../parts/read-input.ts';

/** A program that knows nothing of batchling. */
export interface RunChild {
  /** Of chat completions. */
  readonly baseURL: string;
  readonly model?: string;
  readonly calls: number;
  /** What it writes while it waits, piece by piece. */
  readonly prints?: readonly string[];
  /** It begins to write when there is this file. */
  readonly go?: string;
  /** The pieces are written by a process that is not Node. */
  readonly byShell?: boolean;
  /** Does this once its batch is sent, or instead of asking. */
  readonly ends?: 'exit' | 'die' | 'exit-when-answered';
  /** A file that it writes when its calls are answered. */
  readonly answered?: string;
}

const child = readInput<RunChild>();
const { baseURL, model = 'gpt-5-mini', calls, prints = [], go, byShell, ends, answered } = child;

async function ask(content: string): Promise<void> {
  const response = await fetch(`${baseURL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test-key', 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content }] }),
  });
  await response.json();
}

async function print(text: string): Promise<void> {
  if (!byShell) {
    process.stdout.write(text);
    return;
  }
  await once(spawn('printf', ['%b', text], { stdio: 'inherit' }), 'exit');
}

const sent = new Promise<unknown>((resolve) => {
  subscribe('batchling:batch:submitted', resolve);
});

// The terminal may end with the parent.
process.on('SIGHUP', () => undefined);

const asked = Promise.all(Array.from({ length: calls }, (_, at) => ask(`${model} question ${at}`)));
if (calls > 0) await sent;
while (go !== undefined && !existsSync(go)) await sleep(10);
for (const text of prints) {
  await print(text);
  await sleep(5);
}
if (ends === 'die') process.kill(process.pid, 'SIGKILL');
if (ends === 'exit') process.exit(5);
await asked;
if (answered !== undefined) writeFileSync(answered, 'answered');
if (ends === 'exit-when-answered') process.exit(6);
