import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { askClaude } from '../../support/ask.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
const creates = '/v1/messages/batches';

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

/** Where a create echoes nothing, what was there before it has to be known for each. */
it('creates of one program go out one at a time, each after a look at what is there', async () => {
  const { simulator } = stage;
  const prompts = ['one', 'two', 'three', 'four'];
  const client = stage.anthropic();
  const controller = new AbortController();
  // Polls read the same list: none comes before the last create.
  const options = stage.options({ batchSize: 1, poll: '1h', signal: controller.signal });
  const asking = batchify(
    () => Promise.allSettled(prompts.map((prompt) => askClaude(client, prompt))),
    options,
  );
  await until(() => simulator.countRequests('POST', creates) === prompts.length, 'the creates');
  const order = simulator.requests
    .filter(({ path }) => path === creates)
    .map(({ method }) => method);
  expect(order).toEqual(prompts.flatMap(() => ['GET', 'POST']));
  controller.abort();
  await asking;
});

it('creates of several programs on one ledger wait for each other', async () => {
  const ms = 250;
  stage.simulator.faults.add({
    ...{ method: 'POST', path: creates, times: 3 },
    action: { kind: 'delay', ms },
  });
  const store = stage.newStore();
  const client = stage.anthropic();
  // Who keeps other things has an engine of its own, as another process has.
  await Promise.all(
    (['answers', 'all', 'none'] as const).map((keep) =>
      batchify(() => askClaude(client, `keeps ${keep}`), stage.options({ store, keep })),
    ),
  );
  const arrivals = stage.simulator.requests
    .filter(({ method, path }) => method === 'POST' && path === creates)
    .map(({ at }) => at);
  expect(arrivals).toHaveLength(3);
  // The next one arrives after the one before was answered; a timer may strike a little early.
  for (let next = 1; next < arrivals.length; next += 1) {
    expect(Number(arrivals[next]) - Number(arrivals[next - 1])).toBeGreaterThanOrEqual(ms - 10);
  }
});
