import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { OpenAIBatcher, openaiInfo, type Route } from '../../../src/batchers/index.ts';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon } from '../../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const mostBytes = 2_000;
const mostItemBytes = 900;

/** A provider that takes little at once. */
class NarrowBatcher extends OpenAIBatcher {
  override readonly info = { ...openaiInfo, name: 'narrow', hosts: [] };
  override limits(route: Pick<Route, 'endpoint' | 'model'>) {
    return { ...super.limits(route), bytes: mostBytes, itemBytes: mostItemBytes };
  }
}

function options(): BatchifyOptions {
  const hosts = { [stage.simulator.baseUrl('openai')]: 'narrow' } as const;
  return stage.options({ batchers: [NarrowBatcher], hosts });
}

const askAll = (prompts: readonly string[]) =>
  soon(
    batchify(
      () => Promise.all(prompts.map((prompt) => fetch(chatUrl(stage), chatRequest(prompt)))),
      options(),
    ),
  );

it('a batch is never larger than its provider takes, and every call is answered', async () => {
  const prompts = Array.from({ length: 9 }, (_, index) => `${index} ${'x'.repeat(300)}`);
  const responses = await askAll(prompts);
  for (const [index, response] of responses.entries()) {
    expect(await response.text()).toContain(`answer to \\"${prompts[index]}\\"`);
  }
  const uploads = stage.simulator.requests.filter(({ path }) => path === '/v1/files');
  // The form around the file takes up some hundred bytes.
  const sizes = uploads.map(({ headers }) => Number(headers['content-length']));
  expect(sizes.length).toBeGreaterThanOrEqual(3);
  for (const size of sizes) expect(size).toBeLessThan(mostBytes + 800);
  expect(stage.simulator.meter.total).toBe(prompts.length);
});

it('a call that is too large for any batch is told so, and the others go on', async () => {
  const [small, large] = await askAll(['small', 'x'.repeat(mostItemBytes)]);
  expect(small?.status).toBe(200);
  expect(large?.status).toBe(413);
  expect(await large?.json()).toMatchObject({ error: { type: 'batchling_too_large' } });
  expect(stage.simulator.meter.total).toBe(1);
});
