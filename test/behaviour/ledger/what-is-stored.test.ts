import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon, until } from '../../support/until.ts';

let stage: Stage;
let shown: string;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => {
  stage.simulator.reset();
  stage.simulator.hold();
  shown = '';
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    shown += String(text);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

type EndedBy = 'an error' | 'its signal';

/** A scope that is ended while its batches, one for each prompt, are under way; and what it says. */
async function endEarly(by: EndedBy, store: string, prompts: readonly string[]): Promise<string> {
  const stop = new AbortController();
  const { signal } = by === 'its signal' ? stop : new AbortController();
  const polled = new Set<string>();
  const notePolled = (event: unknown) => polled.add((event as { batch: string }).batch);
  subscribe('batchling:batch:polled', notePolled);
  let calls: readonly Promise<Response>[] = [];
  const ended = batchify(
    () => {
      calls = prompts.map((prompt) => fetch(chatUrl(stage), chatRequest(prompt)));
      const stopped = new Promise((_, reject) => stop.signal.addEventListener('abort', reject));
      return Promise.all([...calls, stopped]);
    },
    { ...stage.options({ store }), display: 'plain', batchSize: 1, signal },
  );
  await until(() => polled.size === prompts.length, 'the batches');
  unsubscribe('batchling:batch:polled', notePolled);
  shown = '';
  stop.abort();
  await expect(soon(ended)).rejects.toBeDefined();
  await until(() => shown.includes('collect the answers'), 'the note');
  // Those of a scope that threw are answered now, and what it has used is closed.
  if (by === 'an error') stage.simulator.release();
  await soon(Promise.allSettled(calls));
  return shown.slice(shown.indexOf('ended by')).trim();
}

const collect = 'Run the program again to collect the answers.';

describe.each<EndedBy>(['an error', 'its signal'])('a scope that is ended by %s', (by) => {
  it('says what is stored and how to collect it', async () => {
    const store = stage.newStore();
    const note = `ended by ${by}; a batch under way stays in ${store}. ${collect}`;
    expect(await endEarly(by, store, ['one'])).toBe(note);
  });

  it('says how many batches are', async () => {
    const store = stage.newStore();
    const note = `ended by ${by}; 2 batches under way stay in ${store}. ${collect}`;
    expect(await endEarly(by, store, ['one', 'two'])).toBe(note);
  });

  it('says so of a batch that an earlier run has sent', async () => {
    const store = stage.newStore();
    vi.stubEnv('BATCHLING_RUN', 'first');
    const note = (await endEarly('its signal', store, ['one'])).replace('its signal', by);
    vi.stubEnv('BATCHLING_RUN', 'second');
    expect(await endEarly(by, store, ['one'])).toBe(note);
    expect(stage.simulator.batches()).toHaveLength(1);
  });
});
