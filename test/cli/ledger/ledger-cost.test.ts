import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { batchify, type Clock, type Stats } from '../../../src/index.ts';
import { openLedger } from '../../../src/ledger/open-ledger.ts';
import { ask } from '../../support/ask.ts';
import { runCommand } from '../../support/processes/run-ledger-command.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;
let store: string;
/** What the scopes say at their ends. */
const ended: Stats[] = [];

/** Noon of yesterday: nothing here goes on past midnight. */
const sinceNoon = Date.now() - (Math.floor(Date.now() / 86_400_000) - 0.5) * 86_400_000;
const clock: Clock = {
  now: () => Date.now() - sinceNoon,
  setTimeout: (callback, delay) => setTimeout(callback, delay),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

/** Batches, flex calls and ordinary ones, and a model without a price. */
beforeAll(async () => {
  stage = await openStage({ flex: { openai: { full: { share: 0 } } } });
  store = stage.newStore();
  const openai = stage.openai();
  const run = async (prompts: readonly string[], model: string, options: object) => {
    const scope = batchify(stage.options({ store, clock, ...options }));
    await scope.run(() => Promise.all(prompts.map((prompt) => ask(openai, prompt, model))));
    await scope.close();
    ended.push(scope.stats);
  };
  const labels = { name: 'colours', tags: { team: 'paint', stage: 'test' } };
  await run(['red', 'blue', 'green'], 'gpt-4o-mini', labels);
  await run(['red', 'one'], 'gpt-4o-mini', {});
  await run(['two', 'three'], 'gpt-5-mini', { lane: 'flex', tags: { team: 'count' } });
  await run(['four', 'five'], 'gpt-5-mini', { minBatch: 100, name: 'late' });
  await run(['six'], 'gpt-nobody', {});
});
afterAll(() => stage.close());

const cost = (...given: string[]) => runCommand(['cost', ...given, '--store', store]);

async function json(...given: string[]) {
  return JSON.parse((await cost(...given, '--json')).stdout);
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

describe('cost', () => {
  it('agrees with the summaries of the runs, and with show', async () => {
    const { total, lanes, rows, by, since } = await json();
    const dollars = (of: keyof Stats['dollars']) => sum(ended.map((stats) => stats.dollars[of]));
    expect(total.paid).toBeCloseTo(dollars('paid'), 10);
    expect(total.saved).toBeCloseTo(dollars('saved'), 10);
    const tokens = sum(ended.map((stats) => stats.tokens.input + stats.tokens.output));
    expect(total.inputTokens + total.outputTokens).toBe(tokens);
    const asked = sum(ended.map(({ answered, fromLedger }) => answered - fromLedger));
    expect(total).toMatchObject({ calls: asked, unpriced: 1 });
    const paidIn = Object.fromEntries(lanes.map((row: { lane: string }) => [row.lane, row]));
    expect(paidIn.flex.paid).toBeCloseTo(dollars('flex'), 10);
    expect(paidIn.realtime.paid).toBeCloseTo(dollars('realtime'), 10);
    expect([paidIn.flex, paidIn.realtime]).toMatchObject([{ calls: 2 }, { calls: 2, saved: 0 }]);

    const { batches } = JSON.parse((await runCommand(['ls', '--store', store, '--json'])).stdout);
    const inBatches = sum(
      batches.map((batch: { cost?: { paid?: number } }) => batch.cost?.paid ?? 0),
    );
    expect(paidIn.batch.paid).toBeCloseTo(inBatches, 10);
    const estimates = batches.map(
      (batch: { cost?: { estimate?: number } }) => batch.cost?.estimate ?? 0,
    );
    expect(paidIn.batch.estimate.dollars).toBeCloseTo(sum(estimates), 10);
    expect(paidIn.batch.estimate.paid).toBeCloseTo(inBatches, 10);
    expect(paidIn.flex.estimate).toBeNull();
    expect([rows.length, by]).toEqual([1, 'day']);
    expect(rows[0]).toEqual({ day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), ...total });
    expect(since < rows[0].day).toBe(true);
  });

  it('groups by model, provider, name and tag', async () => {
    const { rows: models } = await json('--by', 'model');
    const names = models.map(
      ({ provider, model }: Record<string, string>) => `${provider} ${model}`,
    );
    expect(names.sort()).toEqual(['openai gpt-4o-mini', 'openai gpt-5-mini', 'openai gpt-nobody']);
    const nobody = models.find(({ model }: { model: string }) => model === 'gpt-nobody');
    expect(nobody).toMatchObject({ calls: 1, unpriced: 1, paid: null, saved: null });
    const { rows: providers, total } = await json('--by', 'provider');
    expect(providers).toEqual([{ provider: 'openai', ...total }]);
    const { rows: named } = await json('--by', 'name');
    const calls = (rows: readonly { calls: number; name?: string; tag?: string }[]) =>
      Object.fromEntries(rows.map((row) => [row.name ?? row.tag ?? '', row.calls]));
    expect(calls(named)).toEqual({ colours: 3, late: 2, '': 5 });
    const { rows: tagged } = await json('--by', 'tag');
    expect(calls(tagged)).toEqual({ 'team=paint': 3, 'stage=test': 3, 'team=count': 2, '': 5 });
  });

  it('prints a table with aligned numbers, the lanes, and what was saved', async () => {
    const { code, stdout, stderr } = await cost('--by', 'model');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [models, lanes, end] = stdout.split('\n\n') as [string, string, string];
    const [titles, ...rows] = models.split('\n');
    expect(titles).toMatch(/^MODEL +CALLS +INPUT +OUTPUT +PAID +SAVED +ESTIMATE$/);
    const ends = rows.map((row) => /^.*?(?=\s+(\$\S+|unknown)\s)/.exec(row)?.[0].length);
    expect(new Set(ends).size).toBe(1);
    expect(models).toMatch(/^openai gpt-nobody +1 +\d+ +\d+ +unknown +unknown$/m);
    expect(lanes.split('\n').map((line) => line.split(/ +/)[0])).toEqual([
      'LANE',
      ...['realtime', 'flex', 'batch'].sort(
        (one, other) => lanes.indexOf(one) - lanes.indexOf(other),
      ),
    ]);
    expect(end).toMatch(
      /^Saved \$\S+ \(\d\d %\), paid \$\S+: 10 calls since \d{4}-\d\d-\d\d \(UTC\)\.$/m,
    );
    expect(end).toMatch(/^Batches: expected at most \$\S+, paid \$\S+\.$/m);
    expect(end).toMatch(/^Price unknown: 1 call \(openai gpt-nobody\), not in these dollars\./m);
  });

  it('prints comma-separated values, a row for each lane', async () => {
    const { stdout } = await cost('--by', 'name', '--csv');
    const [head, ...rows] = stdout.trim().split('\r\n');
    expect(head).toBe(
      'name,lane,calls,unpriced,inputTokens,outputTokens,cacheReadTokens,cacheWriteTokens,paid,saved,estimate,estimated',
    );
    expect(rows).toHaveLength(4);
    // Nobody has estimated ordinary calls.
    expect(rows).toContainEqual(expect.stringMatching(/^late,realtime,2,0,.*,0,,$/));
  });

  it('prints no cell that a spreadsheet would run as a formula', async () => {
    const formulas = stage.newStore();
    const options = stage.options({ store: formulas, name: '=cmd()', tags: { team: '@SUM(1)' } });
    await batchify(() => ask(stage.openai(), 'red', 'gpt-4o-mini'), options);
    for (const [by, cell] of [
      ['name', "'=cmd()"],
      ['tag', 'team=@SUM(1)'],
    ] as const) {
      const { stdout } = await runCommand(['cost', '--by', by, '--csv', '--store', formulas]);
      expect(stdout.split('\r\n')[1]).toMatch(/^[^,]+,batch,1,0,\d+,/);
      expect(stdout.split('\r\n')[1]?.split(',')[0]).toBe(cell);
    }
  });

  it.each([
    [999, '999'],
    [999_499, '999k'],
    [999_700, '1.00M'],
    [999_999_999, '1.00G'],
  ])('shortens %d tokens to %s', async (inputTokens, text) => {
    const place = stage.newStore();
    const ledger = await openLedger(place);
    const me = await ledger.join({ run: 'r', host: 'h', pid: process.pid });
    const labels = { provider: 'openai', model: 'gpt-5', lane: 'realtime', tags: {} } as const;
    await ledger.settled(me, [], [{ ...labels, costs: [{ inputTokens, outputTokens: 7 }] }]);
    await ledger.leave(me);
    await ledger.close();
    const { stdout } = await runCommand(['cost', '--by', 'model', '--store', place]);
    expect(stdout.split('\n')[1]).toMatch(new RegExp(`^openai gpt-5 +1 +${text} +7 +unknown`));
  });

  it('has the sums when answers and batches are dropped', async () => {
    const before = await json('--by', 'model');
    const copy = stage.newStore();
    await runCommand(['move', store, copy]);
    const of = async (path: string) =>
      JSON.parse((await runCommand(['cost', '--by', 'model', '--store', path, '--json'])).stdout);
    expect((await of(copy)).rows).toEqual(before.rows);
    await runCommand(['prune', '--all', '--store', copy]);
    const { batches } = JSON.parse((await runCommand(['ls', '--store', copy, '--json'])).stdout);
    expect(batches).toEqual([]);
    expect((await of(copy)).rows).toEqual(before.rows);
  });

  it('says so where there is nothing, and where it is called wrongly', async () => {
    const nowhere = { BATCHLING_STORE: stage.newStore() };
    const { code, stdout } = await runCommand(['cost'], nowhere);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('no ledger at') });
    const none = JSON.parse((await runCommand(['cost', '--json'], nowhere)).stdout);
    expect(none).toMatchObject({ rows: [], lanes: [], total: null, underWay: { batches: 0 } });
    expect((await cost('--since', 'monday')).stderr).toContain('a day such as 2026-11-01');
    expect((await cost('--since', '2999-01-01')).stdout).toMatch(
      /^No call has been answered since/,
    );
    for (const wrong of [
      ['--by', 'moon'],
      ['--since', 'monday'],
      ['--since', '2026-02-31'],
      ['--json', '--csv'],
    ]) {
      expect(await cost(...wrong), wrong.join(' ')).toMatchObject({ code: 2, stdout: '' });
    }
  });
});
