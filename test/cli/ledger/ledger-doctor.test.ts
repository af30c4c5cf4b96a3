import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../support/processes/run-ledger-command.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const secret = 'sk-secret-of-the-doctor';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

describe('doctor', () => {
  it('checks a project: versions, keys by name, clients, proxies by host', async () => {
    const project = join(stage.folder, 'project');
    await mkdir(join(project, 'node_modules', 'openai'), { recursive: true });
    const needs = { dependencies: { openai: '^6', 'groq-sdk': '1', undici: '^7', left: '1' } };
    await writeFile(join(project, 'package.json'), JSON.stringify(needs));
    await writeFile(join(project, 'batchling.config.json'), '{}');
    const manifest = join(project, 'node_modules', 'openai', 'package.json');
    await writeFile(manifest, '{"version":"6.1.2"}');
    const environment = {
      OPENAI_API_KEY: secret,
      HTTPS_PROXY: `http://user:${secret}@proxy.example:3128`,
      BATCHLING_WINDWO: '1s',
      BATCHLING_STORE: stage.newStore(),
    };
    const { code, stdout, stderr } = await runCommand(['doctor'], environment, project);
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^ok {4}Node {7}\d+\.\d+/m);
    expect(stdout).toMatch(/^ok {4}SQLite {5}3\./m);
    expect(stdout).toMatch(/^ok {4}ledger {5}There is no ledger at /m);
    expect(stdout).toContain('openai (OPENAI_API_KEY)');
    expect(stdout).toContain('captured: groq-sdk (not installed), openai 6.1.2');
    expect(stdout).toMatch(/^warn {2}clients {4}undici: /m);
    expect(stdout).toContain('Did you mean BATCHLING_WINDOW?');
    expect(stdout).toContain('HTTPS_PROXY: proxy.example:3128');
    expect(stdout).toContain('batchling.config.json');
    expect(stdout).not.toContain(secret);
    expect(code).toBe(0);
  });

  it('says what is bad, with exit code 1', async () => {
    const store = stage.newStore();
    await mkdir(dirname(store), { recursive: true });
    await writeFile(store, 'this is not a ledger, and long enough to be something else'.repeat(20));
    const { code, stdout } = await runCommand(['doctor', '--store', store, '--json']);
    const { findings } = JSON.parse(stdout) as { findings: { level: string; text: string }[] };
    const bad = findings.filter(({ level }) => level === 'bad');
    expect(bad.map(({ text }) => text)).toEqual([expect.stringContaining('it is not a ledger')]);
    expect(code).toBe(1);
  });
});

describe('doctor --live', () => {
  it.each(['openai', 'anthropic', 'google'] as const)('tells what %s does', async (provider) => {
    const environment = {
      OPENAI_API_KEY: secret,
      ANTHROPIC_API_KEY: secret,
      GEMINI_API_KEY: secret,
      BATCHLING_POLL: '20ms',
    };
    const { simulator } = stage;
    const base = simulator.baseUrl(provider);
    const before = simulator.batches().length;
    const cancels = () => simulator.countRequests('POST', /cancel$/);
    const cancelled = cancels();
    const given = ['doctor', '--live', provider, '--base', base, '--yes'];
    const running = runCommand(given, environment);
    await until(() => simulator.batches().length === before + 2, 'the batch that is cancelled');
    // It does not end before its cancel comes.
    simulator.hold();
    await until(() => cancels() > cancelled, 'the cancel');
    simulator.release();
    const { code, stdout, stderr } = await running;
    expect(stderr).toContain('two batches of one request each go to');
    expect(stdout).toMatch(/in the list: found (exactly|as a candidate), among \d/);
    expect(stdout).toMatch(/^ {2}our line: status 200, \d+ \+ \d+ tokens/m);
    expect(stdout).toMatch(/A batch that was cancelled right after its create\n(.*\n)+.*\(ended\)/);
    expect(stdout).toMatch(/^Clock: as the provider has it$/m);
    expect(stdout).toMatch(/^ {2}POST .*:?cancel 200/m);
    expect(stdout).toContain('What the documentation leaves open');
    for (const { id } of simulator.batches()) expect(stdout).not.toContain(id);
    expect(`${stdout}${stderr}`).not.toContain(secret);
    expect(code).toBe(0);
    expect(simulator.batches()).toHaveLength(before + 2);
  });

  it('goes to the base that `hosts` names, and to no other with its key', async () => {
    const { simulator } = stage;
    const base = simulator.baseUrl('openrouter');
    const environment = { OPENROUTER_API_KEY: secret, BATCHLING_POLL: '20ms' };
    const before = simulator.batches().length;
    const live = (hosts: string) =>
      runCommand(['doctor', '--live', 'openrouter', '--yes'], {
        ...environment,
        BATCHLING_HOSTS: hosts,
      });
    expect((await live(`${base}=openrouter`)).stderr).toContain(`go to ${base} `);
    expect(simulator.batches()).toHaveLength(before + 2);
    const several = await live(`${base}=openrouter,proxy.example/llm=openrouter`);
    expect(several.stderr).toContain('hosts names two bases for openrouter');
    expect(several.code).toBe(2);
  });

  it('spends nothing without a yes, without a key, or for a provider that nobody knows', async () => {
    const before = stage.simulator.requests.length;
    const base = stage.simulator.baseUrl('openai');
    const live = (...given: string[]) => runCommand(['doctor', '--live', ...given]);
    const unasked = await runCommand(['doctor', '--live', 'openai', '--base', base], {
      OPENAI_API_KEY: secret,
    });
    expect(unasked.stderr).toContain('--live spends money: add --yes');
    expect(unasked.code).toBe(2);
    const keyless = await live('openai', '--base', base, '--yes');
    expect(keyless.stderr).toContain('no key for openai: set OPENAI_API_KEY');
    expect(keyless.code).toBe(1);
    expect((await live('opnai')).stderr).toContain('They are openai, ');
    // Its facts are a copy of those of OpenAI, whose models it has not.
    expect((await live('deepinfra')).stderr).toContain('--live deepinfra needs a model');
    expect((await live('bedrock')).stderr).toContain('its batches need settings of yours');
    expect(stage.simulator.requests.length).toBe(before);
  });
});
