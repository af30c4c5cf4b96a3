import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach } from 'vitest';

const script = fileURLToPath(new URL('owner-child.test-helper.ts', import.meta.url));
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

export function spawnChild(path: string, task: string, count = 2): ChildProcess {
  const args = ['--import', 'tsx', script, path, task, `${count}`];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  return child;
}

export async function firstLine(child: ChildProcess): Promise<{ owner: number; mine: number[] }> {
  const lines = createInterface({ input: child.stdout! });
  const [line] = await once(lines, 'line');
  return JSON.parse(line as string);
}

export async function kill(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}
