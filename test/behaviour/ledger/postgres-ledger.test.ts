import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openLedger } from '../../../src/ledger/open-ledger.ts';
import {
  startServer,
  type TestServer,
} from '../../../src/ledger/postgres/test/server.test-helper.ts';
import { startAsker } from '../../support/processes/asker.ts';
import { compiledModule } from '../../support/processes/compiled.ts';
import { runCommand } from '../../support/processes/run-ledger-command.ts';
import { resultOf, runProgram } from '../../support/processes/run-program.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

interface Answered {
  readonly text: string;
  readonly source: string;
}

let stage: Stage;
let server: TestServer;

beforeAll(async () => {
  [stage, server] = await Promise.all([openStage(), startServer()]);
});
afterAll(() => Promise.all([stage.close(), server.remove()]));
beforeEach(() => stage.simulator.reset());

function inputOf(schema: string, prompts: readonly string[]) {
  const store = `${server.url}?schema=${schema}`;
  const { hosts } = stage;
  const baseURL = stage.simulator.baseUrl('openai');
  return { prompts, baseURL, options: { store, hosts, window: '20ms', poll: '10ms' } as const };
}

describe('programs that share a ledger in PostgreSQL', () => {
  it('pay once for what both ask at the same time, and nothing for a run afterwards', async () => {
    const input = inputOf('shared', ['one', 'two', 'three']);
    const run = () => resultOf<Answered[]>('ask-all', input);
    const [first, second] = await Promise.all([run(), run()]);
    expect(first.map(({ text }) => text)).toEqual(second.map(({ text }) => text));
    const again = await run();
    expect(again.map(({ source }) => source)).toEqual(['ledger', 'ledger', 'ledger']);
    expect(stage.simulator.meter.executions).toHaveLength(3);
  });

  it('say of one that was killed that it may have ended, and go on with its batches', async () => {
    const { simulator } = stage;
    // A statement may last for half of a lease, and to make the tables takes longer on a busy machine.
    await (await openLedger(inputOf('killed', []).options.store)).close();
    const { baseURL, options } = inputOf('killed&lease=3s', []);
    const input = {
      sdk: 'openai',
      prompts: ['one', 'two'],
      baseURL,
      apiKey: 'sk-test',
      options,
    } as const;
    simulator.hold();
    const first = await startAsker(input);
    await until(() => simulator.batches().length === 1, 'the batch');
    await until(() => simulator.countRequests('GET', /batches/) > 0, 'a poll');
    // A server sees no processes: the second program is told so before the kill, however slow it starts.
    const second = await startAsker(input, { BATCHLING_DISPLAY: 'plain' });
    const told = 'in batches of another program that may have ended';
    await until(() => second.stderr.includes(told), 'the line about the first program');
    first.send('SIGKILL');
    await first.ended;
    simulator.release();
    const { output, stderr } = await second.ended;
    expect(stderr).not.toContain('is running');
    expect(output?.heard).toHaveLength(2);
    expect(simulator.meter.total).toBe(2);
  });

  it('can be looked at by the commands on the ledger, which end as they should', async () => {
    const input = inputOf('looked_at', ['one', 'two', 'three']);
    await resultOf('ask-all', input);
    const { store } = input.options;
    const listed = await runCommand(['ls', '--store', store, '--json']);
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(listed.stdout)).toMatchObject({ total: 1, batches: [{ count: 3 }] });
    const collected = await runCommand(['collect', '--store', store]);
    expect(collected).toMatchObject({ code: 0, stderr: '' });
  });

  it('keep their process up until the ledger is closed', async () => {
    const module = await compiledModule('src/ledger/postgres/connection/open-postgres');
    const program = `
      const { openPostgresLedger } = await import(${JSON.stringify(module)});
      const ledger = await openPostgresLedger({ store: ${JSON.stringify(`${server.url}?schema=closed`)} });
      await ledger.join({ run: 'run', host: 'here', pid: 1 });
      await ledger.close();
      console.log('closed');`;
    const flags = ['--input-type=module', '--eval', program];
    const { stdout } = await promisify(execFile)(process.execPath, flags);
    expect(stdout).toBe('closed\n');
  });

  it('never print the password', async () => {
    const input = inputOf('shown', ['one']);
    const shown = { BATCHLING_DISPLAY: 'plain' };
    const { code, stdout, stderr } = await runProgram('ask-all', input, shown);
    expect(code).toBe(0);
    expect(stderr).toContain('1 call answered');
    expect(stdout + stderr).not.toContain('hunter2');
  });

  it('say what to install where the driver is missing', async () => {
    const environment = { NODE_OPTIONS: `--import=${withoutPg()}` };
    const { code, stderr } = await runProgram('ask-all', inputOf('none', ['one']), environment);
    expect(code).toBe(1);
    expect(stderr).toContain('npm install pg');
    expect(stderr).not.toContain('hunter2');
  });
});

/** A module that makes the package look as if it were not installed. */
function withoutPg(): string {
  const asModule = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;
  const hooks = asModule(`export async function resolve(name, context, next) {
    if (name === 'pg') throw new Error('Cannot find package');
    return next(name, context);
  }`);
  return asModule(`import { register } from 'node:module'; register(${JSON.stringify(hooks)});`);
}
