import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { loadDriver } from '../../../src/ledger/sqlite/connection/driver.ts';
import { ask } from '../../support/ask.ts';
import { compiledCli } from '../../support/processes/compiled.ts';
import { runCommand } from '../../support/processes/run-ledger-command.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { runCommand as runInShell } from '../../support/terminal/run-in-terminal.ts';

let stage: Stage;
let store: string;
let id: string;
let remoteId: string;

/** Two batches: one with an error in it, one without a name. */
beforeAll(async () => {
  stage = await openStage();
  store = stage.newStore();
  const openai = stage.openai();
  const common = { store, keep: 'all' } as const;
  await batchify(
    () => Promise.allSettled(['red', 'blue [[status 400]]'].map((prompt) => ask(openai, prompt))),
    stage.options({ ...common, name: 'colours', tags: { team: 'paint' } }),
  );
  await batchify(() => ask(openai, 'one'), stage.options(common));
  const { batches } = await json('ls');
  ({ id, remoteId } = batches[0]);
});
afterAll(() => stage.close());

function command(...given: string[]) {
  return runCommand([...given, '--store', store]);
}

async function json(...given: string[]) {
  return JSON.parse((await command(...given, '--json')).stdout);
}

describe('ls', () => {
  it('lists batches, the newest last, with totals, and cuts nothing in a pipe', async () => {
    const { code, stdout, stderr } = await command('ls');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [titles, first, second, , footer] = stdout.split('\n');
    expect(titles).toMatch(/^ID +STATE +PROVIDER +MODEL +SENT +DONE +AGE +NAME$/);
    expect(first).toMatch(/^bl_\w{16} {2}done +openai +\S+ +2 +2 +\d+s .*colours$/);
    expect(second).toMatch(/^bl_\w{16} {2}done +openai +\S+ +1 +1 /);
    expect(footer).toBe('2 batches: 3 requests, 3 of them done.');
    expect(stdout).not.toContain('…');
  });

  it('shortens ids in a narrow terminal, rather than names and models', async () => {
    const words = [process.execPath, await compiledCli(), 'ls', '--store', store];
    const line = words.map((word) => `'${word}'`).join(' ');
    const shown = async (columns: number) =>
      (await (await runInShell(line, columns)).ended).lines.find((one) => one.includes('colours'));
    expect(await shown(100)).toContain(id);
    expect(await shown(66)).toMatch(
      new RegExp(`^${id.slice(0, 9)} +done +openai +gpt-\\S+[^…] .* colours$`),
    );
  });

  it('shows fewer when told so, and what is open', async () => {
    const { stdout } = await command('ls', '--limit', '1');
    expect(stdout).toContain('The newest 1 of 2 batches');
    expect(await json('ls', '--open')).toEqual({ store, batches: [], total: 0 });
    expect((await command('ls', '--limit', '0')).code).toBe(2);
  });
});

describe('--store', () => {
  it('wins over the variable', async () => {
    const elsewhere = { BATCHLING_STORE: stage.newStore() };
    const { stdout } = await runCommand(['ls', '--store', store, '--json'], elsewhere);
    expect(JSON.parse(stdout)).toMatchObject({ store, total: 2 });
  });
});

describe('show', () => {
  it('tells facts, times, counts, errors and requests', async () => {
    const { code, stdout } = await command('show', id);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ {2}state +done \(the provider says: completed\)$/m);
    expect(stdout).toContain(`its id there     ${remoteId}`);
    expect(stdout).toMatch(/^ {2}tags +team=paint$/m);
    expect(stdout).toMatch(
      /^ {2}accepted +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(\d+(\.\d)?m?s later\)$/m,
    );
    expect(stdout).toMatch(/^ {2}requests +2: 1 answered, 1 with an error$/m);
    expect(stdout).toMatch(/^ {2}1 × 400: .+ \(for example \S+\)$/m);
    expect(stdout).toMatch(/^REQUEST +STATE +STATUS +TRY +SINCE +ERROR$/m);
  });

  it('knows a batch by its beginning and by the id of the provider, also as JSON', async () => {
    expect(await json('show', id.slice(3, 12))).toMatchObject({ id, remoteId });
    const shown = await json('show', remoteId, '--requests');
    expect(shown).toMatchObject({
      id,
      state: 'ended',
      requests: { sent: 2, answered: 1, failed: 1, waiting: 0, gone: 0 },
      errors: [{ status: 400, count: 1 }],
    });
    expect(shown.members.map(({ state }: { state: string }) => state).sort()).toEqual([
      'answered',
      'failed',
    ]);
  });

  it('says which ids there are when nobody has the one that was given', async () => {
    const typo = `${id.slice(0, -1)}x`;
    const wrong = await command('show', typo);
    expect(wrong).toMatchObject({ code: 1, stdout: '' });
    expect(wrong.stderr).toMatch(new RegExp(`The newest are .*${id}`));
    const several = await command('show', 'bl_');
    expect(several.stderr).toContain('2 batches begin with "bl_": ');
    expect(several.code).toBe(1);
  });
});

describe('export', () => {
  it('writes a row for each request, with its answer and body as they came', async () => {
    const { code, stdout, stderr } = await command('export', id);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const rows = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rows).toHaveLength(2);
    const good = rows.find(({ state }) => state === 'answered');
    expect(good).toMatchObject({ batch: id, remoteId, status: 200, occurrence: 0, attempt: 1 });
    expect(good.answer.choices[0].message.content).toContain('red');
    expect(good.request.messages).toEqual([{ role: 'user', content: 'red' }]);
    expect(rows.find(({ state }) => state === 'failed')).toMatchObject({ status: 400 });
  });

  it('says how questions are kept where the ledger has none', async () => {
    const options = stage.options();
    await batchify(() => ask(stage.openai(), 'unkept'), options);
    const told = await runCommand(['export', '--all', '--store', options.store as string]);
    expect(told.code).toBe(0);
    expect(JSON.parse(told.stdout)).not.toHaveProperty('request');
    expect(told.stderr).toContain('the rows have no question');
    expect(told.stderr).toContain('--keep all');
  });

  it('writes CSV to a file that it does not overwrite', async () => {
    const output = join(stage.folder, 'answers.csv');
    const given = ['export', '--all', '--format', 'csv', '--output', output] as const;
    expect((await command(...given)).stdout).toBe(`3 rows written to ${output}.\n`);
    const text = await readFile(output, 'utf8');
    expect(text).toMatch(/^batch,remoteId,.*\r\nbl_/);
    expect(text).toContain('""content"":');
    expect((await stat(output)).mode & 0o077).toBe(0);
    const again = await command(...given);
    expect(again.code).toBe(1);
    expect(again.stderr).toContain('is there already');
    expect((await command(...given, '--force')).code).toBe(0);
    expect((await command('export')).code).toBe(2);
  });
});

describe('a ledger that cannot be looked at', () => {
  it('is not made where there is none', async () => {
    const none = stage.newStore();
    const list = await runCommand(['ls', '--store', none]);
    expect(list).toMatchObject({ code: 0, stderr: '' });
    expect(list.stdout).toContain(`There is no ledger at ${none} yet.`);
    expect((await runCommand(['show', 'x'], { BATCHLING_STORE: none })).code).toBe(1);
    const pruned = await runCommand(['prune', '--json', '--store', none]);
    expect(JSON.parse(pruned.stdout)).toEqual({ requests: 0, batches: 0, bytes: 0, dryRun: false });
    // 0 would let a script go on that pays for everything again.
    const collected = await runCommand(['collect', '--store', none]);
    expect(collected.code).toBe(1);
    expect(collected.stderr).toContain(`There is no ledger at ${none} yet.`);
    expect(collected.stderr).toContain('named by --store, BATCHLING_STORE');
    expect(existsSync(dirname(none))).toBe(false);
  });

  it('says why: newer, damaged, or without the right to read it', async () => {
    const newer = stage.newStore();
    await mkdir(dirname(newer), { recursive: true });
    const { DatabaseSync } = await loadDriver();
    const database = new DatabaseSync(newer, { timeout: 0 });
    database.exec("CREATE TABLE meta (key, value); INSERT INTO meta VALUES ('schema', 999)");
    database.close();
    const told = await runCommand(['ls', '--store', newer]);
    expect(told).toMatchObject({ code: 1, stdout: '' });
    expect(told.stderr).toContain('was written by a newer batchling');

    const broken = stage.newStore();
    await mkdir(dirname(broken), { recursive: true });
    await writeFile(broken, 'not a database '.repeat(100));
    const damaged = await runCommand(['ls', '--store', broken]);
    expect(damaged.code).toBe(1);
    expect(damaged.stderr).toContain('it is not a ledger');
    // For the administrator no file is closed.
    if (process.getuid?.() === 0) return;
    await chmod(dirname(broken), 0o000);
    const closed = await runCommand(['ls', '--store', broken]);
    await chmod(dirname(broken), 0o700);
    expect(closed.code).toBe(1);
    expect(closed.stderr).toContain('this user may not read and write it');
  });
});

describe('prune', () => {
  it('says what it would drop, and drops it', async () => {
    expect((await command('prune')).stdout).toMatch(/^Nothing to drop: /);
    expect((await command('prune', '--older-than', 'soon')).code).toBe(2);
    const wished = await json('prune', '--all', '--dry-run');
    expect(wished).toMatchObject({ requests: 3, batches: 2, dryRun: true });
    expect(await json('prune', '--older-than', '0s', '--dry-run')).toEqual(wished);
    expect((await json('ls')).total).toBe(2);
    const done = await json('prune', '--all');
    expect(done).toEqual({ ...wished, dryRun: false });
    expect((await json('ls')).total).toBe(0);
  });
});
