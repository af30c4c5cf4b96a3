import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compiledCli } from '../../support/processes/compiled.ts';
import { startCli, variablesOf, writeFiles } from '../../support/processes/run-cli.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage } from '../../support/stage.ts';
import { runCommand } from '../../support/terminal/run-in-terminal.ts';
import { soon, until } from '../../support/until.ts';

let folder: string;
let file: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'batchling-test-'));
  file = join(folder, 'program.cjs');
  await writeFiles(folder, {
    // Says which signals it gets; ends by the signals that it is not told to listen for.
    'program.cjs': `
      const [...signals] = process.argv.slice(2);
      for (const signal of signals) {
        process.on(signal, () => { console.log('got ' + signal); process.exit(20); });
      }
      setInterval(() => undefined, 1000);
      console.log('pid ' + process.pid);`,
    // Leaves a sign when its parent has gone.
    'orphan.cjs': `
      const { ppid } = process;
      console.log('pid ' + process.pid);
      const timer = setInterval(() => {
        if (process.ppid === ppid) return;
        clearInterval(timer);
        require('node:fs').writeFileSync(process.argv[2], '');
      }, 5);`,
    'terminal.cjs': `
      const { isTTY, columns } = process.stdout;
      console.log([process.stdin.isTTY, isTTY, columns, process.stdout.hasColors()].join(' '));
      setInterval(() => undefined, 1000);`,
  });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Starts a program and waits until it runs; its process id is in what it prints. */
async function start(...given: string[]) {
  const cli = await startCli(['run', file, ...given]);
  await until(() => cli.stdout().includes('\n'), 'the program');
  return { ...cli, pid: Number(/^pid (\d+)/.exec(cli.stdout())?.[1]) };
}

it('passes SIGHUP on to the program', async () => {
  const { process: parent, ended } = await start('SIGHUP');
  parent.kill('SIGHUP');
  const { code, stdout } = await soon(ended);
  expect(code).toBe(20);
  expect(stdout).toContain('got SIGHUP');
});

it('ends with 128 + n when a signal ends the program', async () => {
  const terminated = await start();
  terminated.process.kill('SIGTERM');
  expect(await soon(terminated.ended)).toMatchObject({ code: 143, stderr: '' });
  const killed = await start();
  process.kill(killed.pid, 'SIGKILL');
  expect(await soon(killed.ended)).toMatchObject({ code: 137, stderr: '' });
});

it('leaves SIGINT to the terminal, passes SIGTERM on, and stays until the program has ended', async () => {
  const { process: parent, pid, ended } = await start('SIGINT', 'SIGTERM');
  parent.kill('SIGINT');
  // Signals arrive in their order: the program has heard of the second one only.
  parent.kill('SIGTERM');
  const { code, stdout } = await soon(ended);
  expect({ code, stdout }).toEqual({ code: 20, stdout: `pid ${pid}\ngot SIGTERM\n` });
});

it('does not take the program with it when it is killed', async () => {
  const sign = join(folder, 'sign');
  const { process: parent, stdout } = await startCli(['run', join(folder, 'orphan.cjs'), sign]);
  await until(() => stdout() !== '', 'the program');
  parent.kill('SIGKILL');
  await until(() => existsSync(sign), 'the program that has lost its parent');
});

it('gives the program the terminal, whose Ctrl-C ends it with the code of an interrupt', async () => {
  const words = [process.execPath, await compiledCli(), 'run', join(folder, 'terminal.cjs')];
  const terminal = runCommand(words.map((word) => `'${word}'`).join(' '), 71);
  await until(() => terminal.written().includes('\n'), 'the program');
  terminal.type('\x03');
  const { code, written } = await soon(terminal.ended);
  expect(written).toContain('true true 71 true');
  expect(code).toBe(130);
});

it('tells what was sent before it tells that it was interrupted, and nothing after that', async () => {
  const stage = await openStage();
  stage.simulator.hold();
  const asking = join(stage.folder, 'asking.mjs');
  await writeFiles(stage.folder, {
    'asking.mjs': `
      console.log('pid ' + process.pid);
      const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'ping' }] });
      const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json' };
      await fetch(${JSON.stringify(chatUrl(stage))}, { method: 'POST', headers, body });`,
  });
  const environment = { ...variablesOf(stage), BATCHLING_DISPLAY: 'plain' };
  const cli = await startCli(['run', asking], { environment });
  try {
    await until(() => stage.simulator.batches().length === 1, 'the batch');
    process.kill(Number(/^pid (\d+)/.exec(cli.stdout())?.[1]), 'SIGINT');
    const { code, stderr } = await soon(cli.ended);
    expect(code).toBe(130);
    const lines = stderr.split('\n');
    const interrupted = lines.findIndex((line) => line.includes('interrupted: 1 call waits'));
    expect(lines.findIndex((line) => line.includes('sent bl_'))).toBeLessThan(interrupted);
    expect(lines.slice(interrupted).join('\n')).not.toMatch(/sent bl_|it can be stopped/);
  } finally {
    await stage.close();
  }
});
