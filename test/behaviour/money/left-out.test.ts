import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BatchifyOptions, batchify, DryRunExit, realtime } from '../../../src/index.ts';
import { dryRunLines } from '../../../src/report/text/dry-run-lines.ts';
import { summaryLine } from '../../../src/report/text/summary.ts';
import { summaryLines } from '../../../src/report/text/summary-lines.ts';
import { ask, askClaude } from '../../support/ask.ts';
import { bypassesOf, collectWarnings } from '../../support/escaping.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
let warned: ReturnType<typeof collectWarnings>;

beforeEach(async () => {
  stage = await openStage();
  warned = collectWarnings();
});
afterEach(async () => {
  warned.stop();
  await stage.close();
});

const model = 'gpt-5-mini';

function options(given: BatchifyOptions = {}): BatchifyOptions {
  return stage.options({ display: 'none', ...given });
}

const askTwo = () => Promise.all(['a', 'b'].map((prompt) => ask(stage.openai(), prompt, model)));

/** Warnings come a tick later; one of our own making comes after all others. */
async function warnings(): Promise<string[]> {
  process.emitWarning('the last', { type: 'BatchlingWarning' });
  await until(() => warned.warnings.includes('the last'), 'the warning');
  return warned.warnings.splice(0).slice(0, -1);
}

describe('calls that the option only leaves out', () => {
  it('go out, are counted, and a pattern that matched nothing is a warning with the models', async () => {
    const scope = batchify(options({ only: 'openai:gpt5*, anthropic' }));
    const bypasses = bypassesOf(scope);
    await scope.run(() => Promise.all([askTwo(), askClaude(stage.anthropic(), 'c')]));
    expect(await warnings()).toEqual([]);
    await scope.close();
    expect(scope.stats).toMatchObject({ captured: 1, answered: 1, bypassed: 2 });
    expect(stage.simulator.meter).toMatchObject({ batched: 1, realtime: 2 });
    expect(bypasses.map(({ reason }) => reason)).toEqual(Array(2).fill('left out by `only`'));
    expect(summaryLine(scope.stats)).toContain('2 left out by `only`, at full price');
    expect(summaryLines(scope.stats, 0).join('\n')).toMatch(
      /bypassed +2 at full price: left out by `only`/,
    );
    expect(await warnings()).toEqual([
      expect.stringMatching(/names "openai:gpt5\*", which matched no call.*openai:gpt-5-mini were/),
    ]);
  });

  it.each([
    ['of patterns that all matched', 'openai:other,anthropic'],
    ['of patterns beside which nothing was left out', 'openai,anthropic:none'],
  ] as const)('bring no warning %s', async (_, only) => {
    await batchify(async () => {
      await Promise.all([
        ask(stage.openai(), 'a', only.includes('other') ? 'other' : model),
        ...(only.includes('none') ? [] : [askClaude(stage.anthropic(), 'b')]),
      ]);
    }, options({ only }));
    expect(await warnings()).toEqual([]);
  });

  it('bring the warning once, with the outermost scope that has the patterns', async () => {
    const scope = batchify(options({ only: 'openai:nested-*' }));
    await scope.run(() => batchify(askTwo));
    expect(await warnings()).toEqual([]);
    await scope.close();
    expect(await warnings()).toHaveLength(1);
  });

  it('are held back where bypasses are errors, unless they are meant', async () => {
    const run = batchify(
      async () => {
        const refused = await ask(stage.openai(), 'a', model).catch((error: unknown) => error);
        await realtime(() => ask(stage.openai(), 'b', model));
        return refused;
      },
      options({ only: 'openai:gpt5*', bypass: 'error' }),
    );
    const { status, type, message } = (await run) as unknown as Record<string, string>;
    expect({ status, type }).toEqual({ status: 400, type: 'batchling_unsupported' });
    expect(message).toMatch(/"openai:gpt5\*".*openai:gpt-5-mini.*realtime\(\).*x-batchling: off/);
    expect(stage.simulator.meter).toMatchObject({ batched: 0, realtime: 1 });
  });
});

describe('in a dry run', () => {
  const dry = (given: BatchifyOptions = {}) => options({ dryRun: true, ...given });
  const exitOf = async (run: Promise<unknown>) => {
    const error = await run.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(DryRunExit);
    return (error as DryRunExit).summary;
  };
  afterEach(() => expect(stage.simulator.requests).toEqual([]));

  it('calls that only leaves out are not sent, and counted and priced as full price', async () => {
    const both = () =>
      Promise.all([askTwo(), askClaude(stage.anthropic(), 'c', 'claude-haiku-4-5')]);
    const summary = await exitOf(batchify(both, dry({ only: 'openai:gpt-6*,anthropic' })));
    expect(summary).toMatchObject({ calls: 3, leftOut: 2, bypassed: 0, batches: 1 });
    const left = summary.queues.find(({ provider }) => provider === 'openai');
    expect(left).toMatchObject({ requests: 2, batches: 0, realtime: 2 });
    expect(left?.dollars?.batch).toEqual(left?.dollars?.realtime);
    expect(dryRunLines(summary)).toContain('2 calls left out by `only`, at full price');
    expect(await warnings()).toEqual([expect.stringContaining('"openai:gpt-6*"')]);
  });

  it('they get status 400 in a scope without a function', async () => {
    const scope = batchify({ ...dry({ only: 'anthropic' }), hooks: false });
    const client = stage.openai({ fetch: scope.fetch });
    await expect(ask(client, 'a', model)).rejects.toMatchObject({
      status: 400,
      type: 'batchling_dry_run',
    });
    await scope.close();
  });

  it('they get placeholders in a deep one', async () => {
    let text: string | undefined;
    const run = batchify(
      async () => {
        text = await ask(stage.openai(), 'a', model);
      },
      dry({ dryRun: 'deep', only: 'anthropic' }),
    );
    expect(await exitOf(run)).toMatchObject({ calls: 1, leftOut: 1 });
    expect(text).toContain('placeholder');
  });

  const speak = async () => {
    const url = `${stage.simulator.baseUrl('openai')}/audio/speech`;
    const body = JSON.stringify({ model: 'tts-1', input: 'hello', voice: 'nova' });
    const headers = { 'content-type': 'application/json', authorization: 'Bearer sk-test-key' };
    return (await fetch(url, { method: 'POST', headers, body })).json();
  };

  it('calls that cannot be batched stay pending, too, until the dry run ends', async () => {
    const summary = await exitOf(batchify(speak, dry({ bypass: 'ignore' })));
    expect(summary).toMatchObject({ calls: 0, bypassed: 1 });
    const odd = () =>
      fetch(`${stage.simulator.baseUrl('openai')}/chat/completions`, {
        method: 'POST',
        body: 'odd',
      });
    expect(await exitOf(batchify(odd, dry({ bypass: 'ignore' })))).toMatchObject({ bypassed: 1 });
  });

  it('calls that cannot be batched get status 400 where nobody could be told', async () => {
    const scope = batchify(dry({ bypass: 'ignore' }));
    expect(await scope.run(speak)).toMatchObject({ error: { type: 'batchling_dry_run' } });
    const late = scope.run(speak);
    await scope.close();
    expect(await late).toMatchObject({ error: { type: 'batchling_dry_run' } });
  });
});
