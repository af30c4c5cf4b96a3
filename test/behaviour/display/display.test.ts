import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { askClaude, chatRequest } from '../../support/ask.ts';
import { hearStderr } from '../../support/heard.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { together } from '../../support/together.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
let heard: ReturnType<typeof hearStderr>;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => {
  stage.simulator.reset();
  heard = hearStderr();
});
afterEach(() => {
  vi.restoreAllMocks();
  forgetDisplays();
});

/** What comes next is the first of its process. */
function forgetDisplays(): void {
  for (const key of Object.getOwnPropertySymbols(globalThis)) {
    if (key.description?.startsWith('batchling.displays')) Reflect.deleteProperty(globalThis, key);
  }
}

const ask = (prompt: string) => fetch(chatUrl(stage), chatRequest(prompt));

describe('plain lines', () => {
  it('say what was sent, what the wait means, what came back, and the sum', async () => {
    const store = stage.newStore();
    const options = stage.options({ store, display: 'plain' });
    await batchify(() => Promise.all([ask('one'), ask('two')]), options);
    expect(heard.lines()).toEqual([
      expect.stringMatching(/^batchling: sent bl_\w{6}: 2 requests to openai gpt-test$/),
      'batchling: a batch takes minutes to hours; Ctrl-C is safe: a re-run goes on',
      `batchling: first use: answers are kept for 30d in ${store} (no keys; to turn it off: --store :memory:)`,
      expect.stringMatching(/^batchling: collected bl_\w+: 2 answers, after \d+s$/),
      expect.stringMatching(/^batchling: 2 calls answered, 1 batch/),
    ]);
  });

  it('promise nothing of a ledger that cannot be used', async () => {
    const store = stage.folder;
    const onStoreError = 'continue';
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    await batchify(() => ask('unkept'), stage.options({ store, onStoreError, display: 'plain' }));
    expect(heard.text()).toContain('a stopped run is lost and paid for again');
    expect(heard.text()).not.toMatch(/Ctrl-C is safe|a re-run goes on|kept/);
    expect(String(warned.mock.calls[0]?.[0])).toContain('pays for it again');
  });

  it('tell of a ledger once: later processes say nothing of it', async () => {
    const options = stage.options({ display: 'plain' });
    await batchify(() => ask('one'), options);
    expect(heard.text()).toContain('first use');
    forgetDisplays();
    const before = heard.lines().length;
    await batchify(() => ask('two'), options);
    const later = heard.lines().slice(before);
    expect(later).toHaveLength(4);
    expect(later.join('\n')).not.toContain('first use');
  });

  it('explain the wait once in a process, and warn where the store is in memory', async () => {
    const options = stage.options({ store: ':memory:', display: 'plain' });
    await batchify(() => ask('one'), options);
    await batchify(() => ask('two'), options);
    expect(heard.text().split('minutes to hours')).toHaveLength(2);
    expect(heard.text()).toContain('do not stop the program');
    expect(heard.text()).not.toContain('run again');
  });

  it('of a second run say that nothing was sent', async () => {
    const options = stage.options({ display: 'plain' });
    vi.stubEnv('BATCHLING_RUN', 'first');
    await batchify(() => ask('one'), options);
    vi.stubEnv('BATCHLING_RUN', 'second');
    const before = heard.lines().length;
    await batchify(() => ask('one'), options);
    vi.unstubAllEnvs();
    expect(heard.lines().slice(before)).toEqual([
      'batchling: 1 call answered, 1 from the ledger, nothing was sent',
    ]);
  });

  it('show a batch once, however many scopes share it, and what became of each scope', async () => {
    const options = stage.options({ display: 'plain', ...together(3) });
    const scopes = ['one', 'two', 'three'].map((prompt) => batchify(() => ask(prompt), options));
    await Promise.all(scopes);
    const lines = heard.lines();
    expect(lines.filter((line) => line.includes('sent bl_'))).toHaveLength(1);
    expect(lines.filter((line) => line.includes('collected'))).toHaveLength(1);
    expect(lines.filter((line) => line.includes(': 1 call answered, 1 batch'))).toHaveLength(3);
  });
});

it('JSON has one object per line: events, notices and the sum', async () => {
  const options = stage.options({ display: 'json', store: ':memory:', ...together(2) });
  const scopes = [1, 2].map((at) => batchify(() => ask(`number ${at}`), options));
  await Promise.all(scopes);
  const records = heard.lines().map((line) => JSON.parse(line));
  const named = (name: string) => records.filter(({ event }) => event === name);
  expect(named('batch:submitted')).toHaveLength(1);
  expect(named('call:answered')).toHaveLength(2);
  expect(named('closed')).toHaveLength(2);
  expect(named('closed')[0]).toMatchObject({ stats: { captured: 1, answered: 1 } });
  for (const { pid, time } of records) {
    expect(pid).toBe(process.pid);
    expect(new Date(time).toISOString()).toBe(time);
  }
});

it('a provider that counts at the end only is never shown with nothing done', async () => {
  stage.simulator.hold();
  const asked = batchify(
    () => Promise.all(['one', 'two'].map((prompt) => askClaude(stage.anthropic(), prompt))),
    stage.options({ display: 'json' }),
  );
  const polls = () =>
    heard
      .lines()
      .map((line) => JSON.parse(line))
      .filter(({ event }) => event === 'batch:polled');
  await until(() => polls().length > 2, 'some polls');
  stage.simulator.release();
  await asked;
  const [ended, ...waiting] = polls().reverse();
  expect(ended).toMatchObject({ status: 'ended', counts: { total: 2, completed: 2 } });
  // What displays make of polls without counts: "2 under way, anthropic counts at the end only".
  for (const poll of waiting) {
    expect(poll).toMatchObject({ status: 'in_progress' });
    expect(poll).not.toHaveProperty('counts');
  }
});

it('display none shows nothing', async () => {
  await batchify(() => ask('one'), stage.options({ display: 'none' }));
  expect(heard.text()).toBe('');
});
