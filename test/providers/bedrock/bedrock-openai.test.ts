import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import OpenAI, { BadRequestError } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { type BedrockStage, keysOf, openBedrockStage, region, setUp } from './bedrock-stage.ts';

let stage: BedrockStage;

const model = 'openai.gpt-oss-120b-1:0';
const create = '/openai/v1/batches';

beforeAll(async () => {
  stage = await openBedrockStage();
});
beforeEach(() => stage.simulator.reset());
afterAll(() => stage.close());

const client = (apiKey = 'bedrock-key') =>
  new OpenAI({ apiKey, baseURL: `${stage.base}/openai/v1`, maxRetries: 0 });

const prompts = (many: number) => Array.from({ length: many }, (_, index) => `prompt ${index}.`);

async function ask(content: string, by = client(), asked = model): Promise<string> {
  const messages = [{ role: 'user' as const, content }];
  const { choices } = await by.chat.completions.create({ model: asked, messages });
  return choices[0]?.message.content ?? '';
}

async function askStreamed(content: string): Promise<string> {
  const messages = [{ role: 'user' as const, content }];
  const stream = await client().chat.completions.create({ model, messages, stream: true });
  let text = '';
  for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
  return text;
}

function askAll(many: number, options?: BatchifyOptions): Promise<string[]> {
  const by = client();
  return batchify(
    () => Promise.all(prompts(many).map((prompt) => ask(prompt, by))),
    stage.bedrockOptions(options),
  );
}

const creates = () => stage.simulator.countRequests('POST', create);
const batchesMade = () => stage.simulator.batches().map(({ requests }) => requests);
const realtimeCalls = () => stage.simulator.countRequests('POST', /\/chat\/completions$/);

describe("calls of OpenAI's SDK to Bedrock", () => {
  it('are batched by its own batch API, streams too, and leave nothing in the bucket', async () => {
    const answers = await batchify(
      () =>
        Promise.all([
          ...prompts(60).map((prompt) => ask(prompt)),
          ...prompts(60).map((prompt) => askStreamed(`streamed ${prompt}`)),
        ]),
      stage.bedrockOptions({ completionWindow: '24h', tags: { team: 'search' } }),
    );
    for (const [index, answer] of answers.entries())
      expect(answer).toContain(`${index < 60 ? '' : 'streamed '}prompt ${index % 60}.`);
    expect(batchesMade()).toEqual([120]);
    expect(realtimeCalls()).toBe(0);
    const sent = stage.simulator.requests.find(({ path }) => path === create);
    expect(sent?.headers).toMatchObject({
      'x-amzn-bedrock-rolearn': setUp.roleArn,
      'x-amzn-bedrock-modelid': model,
    });
    const deleted = stage.simulator.requests.filter(({ method }) => method === 'DELETE');
    const names = deleted.map(({ path }) => path.split('/').at(-1)).toSorted();
    expect(names).toEqual(['input.jsonl', 'input.jsonl.out']);
  });

  it('find their batch again by its input when the answer to a create is lost', async () => {
    const action = { kind: 'lost' } as const;
    stage.simulator.faults.add({ method: 'POST', path: create, times: 1, action });
    expect(await askAll(100)).toHaveLength(100);
    expect(creates()).toBe(1);
    expect(stage.simulator.meter.total).toBe(100);
  });

  it('get the words of an error of their own line, in the class of the SDK', async () => {
    const outcomes = await batchify(
      () =>
        Promise.allSettled([
          ...prompts(99).map((prompt) => ask(prompt)),
          client().chat.completions.create({ model } as never),
        ]),
      stage.bedrockOptions(),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(99);
    const last = outcomes.at(-1);
    expect(last?.status === 'rejected' && last.reason).toBeInstanceOf(BadRequestError);
    expect(String(last?.status === 'rejected' && last.reason)).toContain('messages');
  });

  it('get the words of a refused create', async () => {
    const body = { message: 'The role cannot read the bucket.' };
    const headers = { 'x-amzn-errortype': 'ValidationException' };
    const action = { kind: 'status', status: 400, body, headers } as const;
    stage.simulator.faults.add({ method: 'POST', path: create, action });
    const outcomes = await batchify(
      () => Promise.allSettled(prompts(100).map((prompt) => ask(prompt))),
      stage.bedrockOptions(),
    );
    for (const outcome of outcomes) {
      expect(outcome.status === 'rejected' && outcome.reason.message).toContain(
        'The role cannot read the bucket.',
      );
    }
  });

  it('go out as they came where they are too few, with the key that they carry', async () => {
    expect(await askAll(3, { maxWindow: '40ms' })).toHaveLength(3);
    expect(creates()).toBe(0);
    expect(realtimeCalls()).toBe(3);
  });

  it('go out at full price, with the reason, where the model is not of OpenAI', async () => {
    const scope = batchify(stage.bedrockOptions({ bypass: 'ignore' }));
    const reasons: string[] = [];
    scope.on('call:bypassed', ({ reason }) => reasons.push(reason));
    await scope.run(() => ask('one', client(), 'qwen.qwen3-32b-v1:0'));
    await scope.close();
    expect(reasons).toEqual([expect.stringContaining('models of OpenAI only')]);
    expect(realtimeCalls()).toBe(1);
  });
});

describe("OpenAI's own batch client and the S3 client of AWS", () => {
  it('make, follow and read a batch of the simulated Bedrock', async () => {
    const s3 = new S3Client({
      region,
      endpoint: stage.base,
      forcePathStyle: true,
      credentials: keysOf('AKIDREFEREE@mine'),
      requestChecksumCalculation: 'WHEN_REQUIRED',
    });
    const line = (content: string, index: number) =>
      JSON.stringify({
        custom_id: `row-${index}`,
        method: 'POST',
        url: '/v1/chat/completions',
        body: { model, messages: [{ role: 'user', content }] },
      });
    const Body = prompts(100).map(line).join('\n');
    await s3.send(new PutObjectCommand({ Bucket: 'mine', Key: 'in/rows.jsonl', Body }));
    const { batches } = client('referee@mine');
    const headers = { 'X-Amzn-Bedrock-RoleArn': setUp.roleArn, 'X-Amzn-Bedrock-ModelId': model };
    const made = await batches.create(
      {
        input_file_id: 's3://mine/in/rows.jsonl',
        endpoint: '/v1/chat/completions',
        completion_window: '24h',
      },
      { headers },
    );
    const status = async () => (await batches.retrieve(made.id)).status;
    await expect.poll(status, { timeout: 30_000 }).toBe('completed');
    expect((await batches.list()).data.map(({ id }) => id)).toContain(made.id);
    const Key = `in/${made.id}/rows.jsonl.out`;
    const { Body: rows } = await s3.send(new GetObjectCommand({ Bucket: 'mine', Key }));
    const text = (await rows?.transformToString()) ?? '';
    expect(text.trim().split('\n')).toHaveLength(100);
    s3.destroy();
  });
});
