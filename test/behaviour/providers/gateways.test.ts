import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { ask, askClaude } from '../../support/ask.ts';
import { type RecordingProxy, startRecordingProxy } from '../../support/servers/recording-proxy.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;
let gateway: RecordingProxy;

beforeAll(async () => {
  stage = await openStage();
  gateway = await startRecordingProxy(stage.simulator.url, { rename: true });
});
afterAll(async () => {
  await gateway.close();
  await stage.close();
});
beforeEach(() => stage.simulator.reset());

it.each(['anthropic', 'openai'] as const)(
  'a batch sent through a gateway is collected through it, though %s names its own host',
  async (provider) => {
    const { simulator } = stage;
    const before = gateway.requests.length;
    const baseURL = simulator.baseUrl(provider).replace(simulator.url, gateway.url);
    const asking = {
      anthropic: (prompt: string) => askClaude(stage.anthropic({ baseURL }), prompt),
      openai: (prompt: string) => ask(stage.openai({ baseURL }), prompt),
    }[provider];
    const answers = await batchify(
      () => Promise.all([asking('one'), asking('two')]),
      stage.options({ hosts: { [baseURL]: provider }, cleanup: false }),
    );
    expect(answers).toEqual([
      expect.stringContaining('answer to "one"'),
      expect.stringContaining('answer to "two"'),
    ]);
    expect(simulator.meter.total).toBe(2);
    // Nothing went past the gateway, least of all the key.
    expect(simulator.requests).toHaveLength(gateway.requests.length - before);
  },
);
