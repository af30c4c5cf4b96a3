import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { resultOf } from '../../support/processes/run-program.ts';
import { openStage, type Stage } from '../../support/stage.ts';

interface Told {
  readonly answers: readonly string[];
  readonly bypassed: readonly { readonly url: string; readonly reason: string }[];
  readonly warnings: readonly string[];
  readonly captured: number;
}

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

function run(
  given: { bypass?: string; cure?: string } = {},
  environment: Record<string, string> = {},
): Promise<Told> {
  const { cure = 'none', ...options } = given;
  const baseURL = stage.simulator.baseUrl('openai');
  const input = { baseURL, options: stage.options(options as object), cure };
  return resultOf<Told>('loading/early-client', input, environment);
}

describe('a client that was made before batchling was loaded', () => {
  it('goes out at full price, and that is told once with both cures', async () => {
    const { answers, bypassed, warnings, captured } = await run();
    expect(answers).toEqual([
      expect.stringContaining('answer to "one"'),
      expect.stringContaining('answer to "two"'),
    ]);
    expect(captured).toBe(0);
    expect(stage.simulator.meter).toMatchObject({ realtime: 2, batched: 0 });
    const url = `${stage.simulator.baseUrl('openai')}/chat/completions`;
    const reason = expect.stringContaining('before batchling was loaded');
    expect(bypassed).toEqual([
      { url, reason, sent: true },
      { url, reason, sent: true },
    ]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(url);
    expect(warnings[0]).toContain('--import batchling/register');
    expect(warnings[0]).toContain('fetch: scope.fetch');
  });

  it("is left alone with bypass: 'ignore'; only the event is there", async () => {
    const { bypassed, warnings } = await run({ bypass: 'ignore' });
    expect(bypassed).toHaveLength(2);
    expect(warnings).toEqual([]);
  });

  it('is captured once it is given the fetch of the scope', async () => {
    const { bypassed, warnings, captured } = await run({ cure: 'fetch' });
    expect({ bypassed, warnings, captured }).toEqual({ bypassed: [], warnings: [], captured: 2 });
    expect(stage.simulator.meter).toMatchObject({ realtime: 0, batched: 2 });
  });

  it('is captured when the program is started with batchling/register', async () => {
    const register = fileURLToPath(new URL('../../../src/register.ts', import.meta.url));
    const { bypassed, warnings, captured } = await run(
      {},
      { NODE_OPTIONS: `--import tsx --import ${register}`, BATCHLING_STORE: stage.newStore() },
    );
    expect({ bypassed, warnings, captured }).toEqual({ bypassed: [], warnings: [], captured: 2 });
    expect(stage.simulator.meter).toMatchObject({ realtime: 0, batched: 2 });
  });
});
