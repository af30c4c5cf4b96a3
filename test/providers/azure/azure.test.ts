import OpenAI, { AzureOpenAI } from 'openai';
import { describe, expect, it } from 'vitest';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { ask } from '../../support/ask.ts';
import { until } from '../../support/until.ts';
import {
  apiKey,
  batched,
  olderStyle,
  online,
  strayRequests,
  styles,
  useAzure,
  version,
} from './azure-stage.ts';

/** Much of what a body can hold; numbers as no serialiser would write them. */
function bodyWith(model: string): string {
  return (
    `{"messages":[{"role":"system","content":"Æ 漢 \\u00e9 🦔"},` +
    `{"role":"user","content":"hello \\"you\\"\\n"}],"model":${JSON.stringify(model)},` +
    '"seed":12345678901234567890,"logit_bias":{"50256":-1.0e2,"10":1e-7},"temperature":1.0,' +
    '"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object",' +
    '"properties":{"b":{"type":"number","minimum":1.0},"a":{"enum":[null,true,"x"]}}}}}],' +
    '"future_field":{"z":[1,{"y":[]}],"a":{}}}'
  );
}

describe.each(styles)('a program that uses $name', (style) => {
  const stage = useAzure();
  const { root } = style;

  async function run(prompts: readonly string[], given: BatchifyOptions = {}, maxRetries = 0) {
    const client = style.connect(stage, maxRetries);
    const scope = batchify(stage.options(given));
    const outcomes = await scope.run(() =>
      Promise.allSettled(prompts.map((prompt) => ask(client, prompt, online))),
    );
    await scope.close();
    return { outcomes, stats: scope.stats };
  }

  it('has its bodies in the lines as they are, but for the deployment', async () => {
    const body = bodyWith(online);
    const headers = { [style.header]: style.header === 'api-key' ? apiKey : `Bearer ${apiKey}` };
    const streamed = body.replace(/}$/, ',"stream":true,"stream_options":{"include_usage":true}}');
    const send = (text: string) =>
      fetch(style.chatUrl(stage), { method: 'POST', headers, body: text });
    const [whole, stream] = await batchify(
      () => Promise.all([send(body), send(streamed)]),
      stage.options({ cleanup: false }),
    );
    expect(await whole.json()).toMatchObject({ object: 'chat.completion', model: batched });
    expect(await stream.text()).toContain('data: [DONE]');
    const lines = await stage.lines();
    const ids = lines.map((line) => JSON.parse(line).custom_id);
    expect(new Set(ids).size).toBe(2);
    const expected = (id: string) =>
      `{"custom_id":"${id}","method":"POST","url":"${style.url}","body":${bodyWith(batched)}}`;
    expect(lines).toEqual(ids.map(expected));
  });

  it('gets its answers, whole and as streams, of chat completions and responses', async () => {
    const client = style.connect(stage);
    const messages = [{ role: 'user' as const, content: 'streamed' }];
    const [chat, told, response] = await batchify(
      () =>
        Promise.all([
          ask(client, 'plain', online),
          client.chat.completions.stream({ model: online, messages }).finalChatCompletion(),
          client.responses.create({ model: online, input: 'responded' }),
        ]),
      stage.options(),
    );
    expect(chat).toContain('answer to "plain"');
    expect(told.choices[0]?.message.content).toContain('answer to "streamed"');
    expect(response.output_text).toContain('answer to "responded"');
    expect(stage.simulator.meter).toMatchObject({ total: 3, realtime: 0 });
    expect(stage.simulator.batches()).toHaveLength(2);
  });

  it('sends everything below its own root, with its own version and header', async () => {
    const { simulator } = stage;
    const client = style.connect(stage);
    const scope = batchify(stage.options());
    await scope.run(() => Promise.all(['one', 'two'].map((prompt) => ask(client, prompt, online))));
    // Our file goes after the answers; a scope that closes does not wait for it for long.
    const deleted = () => simulator.countRequests('DELETE', new RegExp(`^${root}/files/`));
    await until(() => deleted() === 1, 'the file to be deleted');
    await scope.close();
    expect(strayRequests(stage, style)).toEqual([]);
    expect(simulator.countRequests('POST', `${root}/files`)).toBe(1);
    expect(simulator.countRequests('POST', `${root}/batches`)).toBe(1);
    expect(JSON.stringify(simulator.requests)).not.toContain(apiKey);
  });

  it.each([
    [400, OpenAI.BadRequestError],
    [401, OpenAI.AuthenticationError],
    [403, OpenAI.PermissionDeniedError],
    [404, OpenAI.NotFoundError],
    [409, OpenAI.ConflictError],
    [413, OpenAI.APIError],
    [422, OpenAI.UnprocessableEntityError],
    [429, OpenAI.RateLimitError],
    [500, OpenAI.InternalServerError],
  ])('gets status %i of a line as the error of its SDK, once', async (status, ErrorClass) => {
    const prompts = [`[[status ${status}]]`, 'fine'];
    const { outcomes, stats } = await run(prompts, { attempts: 1 }, 2);
    const reason = outcomes[0]?.status === 'rejected' ? outcomes[0].reason : undefined;
    expect(reason).toBeInstanceOf(ErrorClass);
    expect(reason).toMatchObject({
      status,
      message: expect.stringContaining(`simulated status ${status}`),
    });
    expect(outcomes[1]).toMatchObject({ value: expect.stringContaining('answer to "fine"') });
    expect(stats).toMatchObject({ captured: 2, answered: 2, failed: 1 });
  });

  it('is told what to configure where a batch deployment is missing, and nothing is sent', async () => {
    const providers = { azure: { deployments: { other: batched } } };
    const { outcomes, stats } = await run(['one'], { providers }, 2);
    const reason = outcomes[0]?.status === 'rejected' ? outcomes[0].reason : undefined;
    expect(reason).toBeInstanceOf(OpenAI.BadRequestError);
    expect(reason).toMatchObject({
      type: 'batchling_unsupported',
      message: expect.stringContaining(`deployments: { "${online}": '<batch deployment>' }`),
    });
    expect(stats).toMatchObject({ captured: 1, bypassed: 0, failed: 1 });
    expect(stage.simulator.requests).toEqual([]);
  });

  it('is told the same in the flex lane, where there is no such tier', async () => {
    stage.simulator.configure({ models: null, flex: { azure: { forbidden: true } } });
    const { outcomes, stats } = await run(['one', 'two'], { lane: 'flex', providers: {} }, 2);
    const told = {
      status: 400,
      type: 'batchling_unsupported',
      message: expect.stringContaining(`deployments: { "${online}": '<batch deployment>' }`),
    };
    expect(outcomes).toMatchObject([{ reason: told }, { reason: told }]);
    expect(stats).toMatchObject({ captured: 2, failed: 2, batches: { submitted: 0 } });
    expect(stage.simulator.countRequests('POST', /\/files$/)).toBe(0);
  });

  it('goes out as it is where the option only leaves it out, configured or not', async () => {
    stage.simulator.configure({ models: null });
    const { outcomes, stats } = await run(['one'], { only: 'openai', providers: {} });
    expect(outcomes).toMatchObject([{ status: 'fulfilled' }]);
    expect(stats).toMatchObject({ captured: 0 });
    expect(stage.simulator.meter).toMatchObject({ realtime: 1, batched: 0 });
  });
});

describe('a program that uses tokens of Entra', () => {
  const stage = useAzure();
  const tokenFor = (n: number) =>
    ['{"alg":"none"}', `{"iss":"entra","sub":"me","n":${n}}`, 'x']
      .map((part) => Buffer.from(part).toString('base64url'))
      .join('.');

  it('is one account, however often the token changes', async () => {
    let tokens = 0;
    const client = new AzureOpenAI({
      apiVersion: version,
      endpoint: stage.endpoint,
      azureADTokenProvider: async () => tokenFor(++tokens),
      maxRetries: 0,
    });
    const credential = () => tokenFor(0);
    const deployments = { [online]: batched };
    const answers = await batchify(
      () => Promise.all(['one', 'two', 'three'].map((prompt) => ask(client, prompt, online))),
      stage.options({ providers: { azure: { deployments, credential } } }),
    );
    expect(answers).toHaveLength(3);
    expect(tokens).toBe(3);
    expect(stage.simulator.batches()).toMatchObject([{ requests: 3 }]);
    expect(strayRequests(stage, { ...olderStyle, header: 'authorization' })).toEqual([]);
  });
});
