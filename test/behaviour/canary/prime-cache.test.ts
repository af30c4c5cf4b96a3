import { readFileSync } from 'node:fs';
import type Anthropic from '@anthropic-ai/sdk';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { hearStderr } from '../../support/heard.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;

beforeEach(async () => {
  stage = await openStage();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await stage.close();
});

const model = 'claude-opus-4-6';
const tokens = 11_000;
const perToken = 5 / 1_000_000;
const prices = {
  [model]: {
    input: 5,
    output: 25,
    cacheRead: 0.5,
    cacheWrite: 6.25,
    cacheWrite1h: 10,
    shares: { batch: 0.5 },
  },
};

type Mark = Anthropic.CacheControlEphemeral | undefined;
const fiveMinutes: Mark = { type: 'ephemeral' };
const oneHour: Mark = { type: 'ephemeral', ttl: '1h' };

/** A manual with as many tokens as are asked for, by the count of the simulator. */
function manual(count: number, name = 'pump'): string {
  const role = 4;
  const text = `The manual of the ${name}. `;
  return text.padEnd((count - role) * 4, 'Turn it on, wait, turn it off. ');
}

function askAbout(client: Anthropic, text: string, mark: Mark, question: string) {
  return client.messages.create({
    model,
    max_tokens: 16,
    system: [{ type: 'text', text, ...(mark && { cache_control: mark }) }],
    messages: [{ role: 'user', content: question }],
  });
}

function questions(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `What is on page ${at}?`);
}

async function run(
  program: (client: Anthropic) => Promise<unknown>,
  given: BatchifyOptions = {},
): Promise<{ lines: string[]; paid: number; read: number; written: number }> {
  const heard = hearStderr();
  const client = stage.anthropic({ maxRetries: 0 });
  const scope = batchify(stage.options({ display: 'plain', window: '1s', ...given }));
  await scope.run(() => program(client));
  await scope.close();
  vi.restoreAllMocks();
  const { dollars, tokens: counted } = scope.stats;
  const { cacheRead: read, cacheWrite: written } = counted;
  return { lines: heard.lines(), paid: dollars.paid, read, written };
}

function sizes(): number[] {
  return stage.simulator.batches().map(({ total }) => total);
}

describe('200 requests that share a prompt of 11,000 tokens', () => {
  /** What the prompt costs by the formula: of N requests after a primer all read what it has written. */
  const unit = tokens * perToken * 0.5;
  const formula = { plain: 200, marked: 200 * 1.25, primed: 1.25 + 199 * 0.1 };
  const page = readFileSync(new URL('../../../docs/cache.md', import.meta.url), 'utf8');

  it('cost what the formula says: without a mark, marked, and primed', async () => {
    const measured: Record<string, number> = {};
    for (const [name, mark, primeCache] of [
      ['plain', undefined, false],
      ['marked', fiveMinutes, false],
      ['primed', fiveMinutes, true],
    ] as const) {
      stage.simulator.reset();
      const all = questions(200);
      const { paid } = await run(
        (client) => Promise.all(all.map((one) => askAbout(client, manual(tokens), mark, one))),
        { primeCache },
      );
      // What the provider bills is what we count.
      expect(paid).toBeCloseTo(stage.simulator.meter.dollars(prices), 9);
      const { executions } = stage.simulator.meter;
      // The question and the answer are no part of the prompt that is shared.
      const rest = executions.reduce(
        (sum, { inputTokens, outputTokens }) =>
          sum + ((inputTokens - tokens) * 5 + outputTokens * 25) / 2_000_000,
        0,
      );
      measured[name] = paid - rest;
      expect(measured[name]).toBeCloseTo(formula[name] * unit, 2);
      expect(page).toContain(`$${(formula[name] * unit).toFixed(2)}`);
    }
    process.stdout.write(
      `200 requests, 11,000 tokens shared: ${Object.entries(measured)
        .map(([name, dollars]) => `${name} $${dollars.toFixed(2)}`)
        .join(', ')}\n`,
    );
  });

  it('are sent as one that writes the cache, and 199 that read it', async () => {
    const { lines, read, written } = await run(
      (client) =>
        Promise.all(questions(200).map((one) => askAbout(client, manual(tokens), oneHour, one))),
      { primeCache: true },
    );
    expect(sizes()).toEqual([1, 199]);
    expect({ read: Math.round(read / 199), written }).toEqual({ read: tokens, written: tokens });
    expect(lines).toContainEqual(
      expect.stringMatching(/1 of 200 requests that share about 11,\d+ tokens goes ahead/),
    );
    expect(lines).toContainEqual(
      expect.stringContaining('199 of 199 requests after the primer read the prompt cache'),
    );
  });
});

describe('priming', () => {
  const many = (client: Anthropic, count: number, text = manual(tokens), mark: Mark = oneHour) =>
    Promise.all(questions(count).map((one) => askAbout(client, text, mark, one)));

  it('is left out where it saves less than ten cents', async () => {
    await run((client) => many(client, 5), { primeCache: true });
    expect(sizes()).toEqual([5]);
  });

  it('is left out where the prompt is too short to be cached', async () => {
    await run((client) => many(client, 100, manual(600)), { primeCache: true });
    expect(sizes()).toEqual([100]);
  });

  it('is left out where there is a deadline, and says so once', async () => {
    const { lines } = await run((client) => many(client, 50), { primeCache: true, deadline: '1h' });
    expect(sizes()).toEqual([50]);
    expect(lines.filter((line) => line.includes('primeCache does nothing'))).toHaveLength(1);
  });

  it('is left out where requests share nothing', async () => {
    await run(
      (client) =>
        Promise.all(
          questions(30).map((one) => askAbout(client, manual(tokens, one), oneHour, 'Why?')),
        ),
      { primeCache: true },
    );
    expect(sizes()).toEqual([30]);
  });

  it('goes group by group', async () => {
    await run(
      (client) =>
        Promise.all([
          many(client, 40),
          many(client, 60, manual(tokens, 'boiler')),
          askAbout(client, 'short', undefined, 'and this?'),
        ]),
      { primeCache: true },
    );
    expect(sizes().sort((a, b) => a - b)).toEqual([1, 1, 1, 39, 59]);
    expect(
      stage.simulator.meter.executions.filter(({ usage }) => usage.cacheWrite1h > 0),
    ).toHaveLength(2);
  });

  it('is one thing with a canary in a batch', async () => {
    await run((client) => many(client, 60), { primeCache: true, canary: 'batch' });
    expect(sizes()).toEqual([1, 59]);
    expect(
      stage.simulator.meter.executions.filter(({ usage }) => usage.cacheRead > 0),
    ).toHaveLength(59);
  });

  it('follows a canary that was an ordinary call: that warms nothing for batches', async () => {
    await run((client) => many(client, 60), { primeCache: true, canary: 'call' });
    expect(sizes()).toEqual([1, 58]);
    expect(
      stage.simulator.meter.executions.filter(({ usage }) => usage.cacheRead > 0),
    ).toHaveLength(58);
  });

  it('whose primer fails lets the others go on', async () => {
    stage.simulator.configure({
      answer: ({ asked, prompt }) =>
        asked === 1 && prompt.includes('page 0') ? { status: 400 } : undefined,
    });
    const client = stage.anthropic({ maxRetries: 0 });
    const results = await batchify(
      () =>
        Promise.allSettled(
          questions(40).map((one) => askAbout(client, manual(tokens), oneHour, one)),
        ),
      stage.options({ primeCache: true, window: '300ms' }),
    );
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(sizes()).toEqual([1, 39]);
  });

  it('that brings no hits twice is given up for its group, and says so', async () => {
    stage.simulator.configure({ promptCache: { hits: 0 } });
    let ahead = 0;
    const clock = {
      now: () => Date.now() + ahead,
      setTimeout: (callback: () => void, delay: number) =>
        setTimeout(callback, Math.min(delay, 300)),
      clearTimeout: (timer: unknown) => clearTimeout(timer as NodeJS.Timeout),
    };
    const { lines } = await run(
      async (client) => {
        for (let round = 0; round < 4; round += 1) {
          await Promise.all(
            questions(30).map((one) =>
              askAbout(client, manual(tokens), oneHour, `${round} ${one}`),
            ),
          );
          // The third round comes while the cache of the second one is warm.
          if (round !== 1) ahead += 2 * 3_600_000;
        }
      },
      { primeCache: true, clock },
    );
    expect(sizes()).toEqual([1, 29, 1, 29, 30, 30]);
    expect(lines.filter((line) => line.includes('is not primed again'))).toHaveLength(1);
  });

  it('does nothing at a provider without such a cache, and says so', async () => {
    const { lines } = await run(
      () =>
        Promise.all(
          questions(5).map((content) =>
            stage.openai().chat.completions.create({
              model: 'gpt-test',
              messages: [{ role: 'user', content }],
            }),
          ),
        ),
      { primeCache: true },
    );
    expect(lines).toContainEqual(expect.stringContaining('primeCache does nothing at openai'));
  });
});

describe('a cache that is paid for in vain', () => {
  const advice = (lines: readonly string[]) =>
    lines.filter(
      (line) => /prompt cache/.test(line) && /saved about|that none of them read/.test(line),
    );

  it('because each request of a batch writes what all share: what priming would have saved, once', async () => {
    const { lines } = await run(async (client) => {
      for (const round of ['first', 'second']) {
        await Promise.all(
          questions(40).map((one) => askAbout(client, manual(tokens, round), oneHour, one)),
        );
      }
    });
    const [said, ...more] = advice(lines);
    expect(more).toEqual([]);
    expect(said).toMatch(/40 requests of a batch began alike.*primeCache.*saved about \$\d/);
    // 39 requests that write for an hour instead of reading.
    const [, dollars] = /about \$([\d.]+)/.exec(said ?? '') ?? [];
    expect(Number(dollars)).toBeCloseTo(39 * tokens * perToken * 0.5 * (2 - 0.1), 1);
  });

  it.each<[string, number, BatchifyOptions]>([
    ['there is a deadline', 40, { deadline: '1h' }],
    ['it saves too little', 3, {}],
  ])(
    'is not said to be saved by primeCache where that does nothing: %s',
    async (_, count, given) => {
      const { lines } = await run(
        (client) =>
          Promise.all(
            questions(count).map((one) => askAbout(client, manual(tokens), oneHour, one)),
          ),
        given,
      );
      expect(advice(lines)).toEqual([]);
    },
  );

  it('because a mark at the top of the body stands at the end of each request', async () => {
    const { lines } = await run((client) =>
      Promise.all(
        questions(40).map((content) =>
          client.messages.create({
            model,
            max_tokens: 16,
            cache_control: { type: 'ephemeral', ttl: '1h' },
            system: manual(tokens),
            messages: [{ role: 'user', content }],
          }),
        ),
      ),
    );
    expect(advice(lines)).toEqual([
      expect.stringMatching(/none of them read, for \$.*at the top of the body/),
    ]);
    // Writing for an hour costs twice the input.
    const [, dollars] = /for \$([\d.]+)\. If/.exec(advice(lines)[0] ?? '') ?? [];
    expect(Number(dollars)).toBeCloseTo(40 * tokens * perToken * 0.5, 1);
  });

  it('because GPT-5.6 writes long prompts unasked', async () => {
    const { lines } = await run(() =>
      Promise.all(
        questions(20).map((one) =>
          stage.openai().chat.completions.create({
            model: 'gpt-5.6-sol',
            messages: [{ role: 'user', content: manual(4_000, one) }],
          }),
        ),
      ),
    );
    expect(advice(lines)).toEqual([
      expect.stringMatching(/gpt-5\.6-sol: 20 requests.*prompt_cache_options/),
    ]);
  });

  it('is not said of requests that read, nor of a primer', async () => {
    const { lines } = await run(
      (client) =>
        Promise.all(questions(40).map((one) => askAbout(client, manual(tokens), oneHour, one))),
      { primeCache: true },
    );
    expect(advice(lines)).toEqual([]);
  });
});
