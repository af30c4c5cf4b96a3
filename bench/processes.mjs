import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A provider that has seen nothing yet. */
export async function startProvider() {
  const child = start('simulator-process.mjs', [], 'pipe');
  const [base] = await Promise.race([
    once(child.stdout.setEncoding('utf8'), 'data'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`The simulator ended with ${code}.`);
    }),
  ]);
  return {
    base: base.trim(),
    async stop() {
      child.stdin.end();
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

/** Runs a script to its end in a fresh process; what it prints is its result, as JSON. */
export function runOnce(script, ...parameters) {
  return runWithFlags([], script, ...parameters);
}

/** The same with flags of Node. */
export async function runWithFlags(flags, script, ...parameters) {
  const child = start(script, parameters, 'ignore', flags);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${script} ${parameters.join(' ')} ended with ${code}.`);
  return JSON.parse(output);
}

function start(script, parameters, stdin, flags = []) {
  const path = fileURLToPath(new URL(script, import.meta.url));
  // Settings of the surrounding shell must not change what is measured.
  const environment = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('BATCHLING_') && name !== 'NODE_OPTIONS',
  );
  return spawn(process.execPath, ['--expose-gc', ...flags, path, ...parameters], {
    stdio: [stdin, 'pipe', 'inherit'],
    env: Object.fromEntries(environment),
  });
}
