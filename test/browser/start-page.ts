import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { until } from '../support/until.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface PageProcess {
  /** With the token. */
  readonly url: string;
  stop(): Promise<number | null>;
}

/** Starts the real `batchling ui` from the sources, as somebody does who works on it. */
export async function startPage(
  store: string,
  flags: readonly string[] = [],
  environment: Record<string, string> = {},
): Promise<PageProcess> {
  const given = [
    '--import',
    'tsx',
    'src/cli/main.ts',
    'ui',
    '--port',
    '0',
    '--json',
    '--store',
    store,
  ];
  const child = spawn(process.execPath, [...given, ...flags], {
    cwd: root,
    env: { ...process.env, ...environment },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  await until(() => stdout.includes('\n') || child.exitCode !== null, 'the page');
  if (child.exitCode !== null) throw new Error(`batchling ui ended: ${stderr}`);
  return {
    url: JSON.parse(stdout).url,
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}
