import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import AnthropicBedrock from '@anthropic-ai/bedrock-sdk';
import {
  BedrockClient,
  CreateModelInvocationJobCommand,
  GetModelInvocationJobCommand,
  ListModelInvocationJobsCommand,
  StopModelInvocationJobCommand,
} from '@aws-sdk/client-bedrock';
import {
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
  InvokeModelCommand,
  InvokeModelWithResponseStreamCommand,
} from '@aws-sdk/client-bedrock-runtime';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { BedrockEmbeddings, ChatBedrockConverse } from '@langchain/aws';
import { generateText, streamText } from 'ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { type Simulator, startSimulator } from '../../../src/simulator/index.ts';

const keys = { accessKeyId: 'AKIDCLIENTS', secretAccessKey: 'secret-of-AKIDCLIENTS' };
const region = 'us-east-1';
const claude = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const nova = 'amazon.nova-lite-v1:0';
const titan = 'amazon.titan-embed-text-v2:0';

let simulator: Simulator;
let endpoint: string;

beforeAll(async () => {
  const speed = { validating: 2, running: 5, finalizing: 2, cancelling: 2 };
  simulator = await startSimulator({ speed, limits: { bedrock: { leastRequestsPerBatch: 1 } } });
  endpoint = simulator.baseUrl('bedrock');
});
afterAll(() => simulator.close());
beforeEach(() => simulator.reset());

function options(given: BatchifyOptions = {}): BatchifyOptions {
  return {
    store: ':memory:',
    window: '30ms',
    poll: '10ms',
    hosts: { [endpoint]: 'bedrock' },
    providers: {
      bedrock: {
        bucket: 's3://clients/prefix',
        roleArn: 'arn:aws:iam::123456789012:role/batches',
        region,
        credential: () => keys,
        limits: { leastRequests: 1 },
      },
    },
    ...given,
  };
}

/** However far apart a client signs its calls, on however busy a machine. */
const untilBothAreThere = { batchSize: 2, window: '1h', maxWindow: '1h' } as const;

/** Asks twice at once in a scope; both calls share a job. */
async function both<Answer>(ask: (prompt: string) => Promise<Answer>): Promise<Answer[]> {
  const answers = await batchify(
    () => Promise.all([ask('prompt one'), ask('prompt two')]),
    options(untilBothAreThere),
  );
  expect(simulator.batches()).toMatchObject([{ provider: 'bedrock', requests: 2 }]);
  expect(simulator.countRequests('POST', /^\/model\//)).toBe(0);
  return answers;
}

function expectBoth(texts: readonly unknown[]): void {
  expect(texts).toHaveLength(2);
  expect(texts[0]).toContain('prompt one');
  expect(texts[1]).toContain('prompt two');
}

describe('@aws-sdk/client-bedrock-runtime, over HTTP/2', () => {
  const client = () => new BedrockRuntimeClient({ region, endpoint, credentials: keys });
  const messagesOf = (text: string) => [{ role: 'user' as const, content: [{ text }] }];
  const claudeBody = (content: string) =>
    JSON.stringify({
      anthropic_version: 'bedrock-2023-05-31',
      max_tokens: 100,
      messages: [{ role: 'user', content }],
    });

  it('Converse', async () => {
    const runtime = client();
    const answers = await both((text) =>
      runtime.send(new ConverseCommand({ modelId: nova, messages: messagesOf(text) })),
    );
    expectBoth(answers.map(({ output }) => output?.message?.content?.[0]?.text));
    expect(answers[0]?.usage?.inputTokens).toBeGreaterThan(0);
    expect(answers[0]?.$metadata.httpStatusCode).toBe(200);
  });

  it('ConverseStream', async () => {
    const runtime = client();
    const told = await both(async (text) => {
      const command = new ConverseStreamCommand({ modelId: nova, messages: messagesOf(text) });
      const { stream } = await runtime.send(command);
      const events = [];
      for await (const event of stream ?? []) events.push(event);
      return events;
    });
    expectBoth(
      told.map((events) =>
        events.map(({ contentBlockDelta }) => contentBlockDelta?.delta?.text ?? '').join(''),
      ),
    );
    const names = told[0]?.flatMap((event) => Object.keys(event));
    expect(names).toEqual([
      'messageStart',
      'contentBlockDelta',
      'contentBlockStop',
      'messageStop',
      'metadata',
    ]);
    expect(told[0]?.at(-1)?.metadata?.usage?.outputTokens).toBeGreaterThan(0);
  });

  it('InvokeModel', async () => {
    const runtime = client();
    const answers = await both(async (prompt) => {
      const command = new InvokeModelCommand({ modelId: claude, body: claudeBody(prompt) });
      const { body } = await runtime.send(command);
      return JSON.parse(body.transformToString()).content[0].text;
    });
    expectBoth(answers);
  });

  it('InvokeModelWithResponseStream', async () => {
    const runtime = client();
    const answers = await both(async (prompt) => {
      const input = { modelId: claude, body: claudeBody(prompt) };
      const { body } = await runtime.send(new InvokeModelWithResponseStreamCommand(input));
      let text = '';
      for await (const { chunk } of body ?? []) {
        const event = JSON.parse(Buffer.from(chunk?.bytes ?? []).toString());
        text += event.delta?.text ?? '';
      }
      return text;
    });
    expectBoth(answers);
  });

  it('gets the error of its record in the class of its SDK, and asks once', async () => {
    const runtime = client();
    const [error] = await batchify(async () => {
      const body = JSON.stringify({ anthropic_version: 'bedrock-2023-05-31', messages: [] });
      const asked = runtime.send(new InvokeModelCommand({ modelId: claude, body }));
      return Promise.all([asked.catch((caught: unknown) => caught)]);
    }, options());
    expect(error).toMatchObject({ name: 'ValidationException', $metadata: { attempts: 1 } });
    expect(simulator.batches()).toHaveLength(1);
  });

  it('is not asked again by its SDK after a final error, whatever the status was', async () => {
    const runtime = client();
    const error = await batchify(
      () =>
        runtime
          .send(new ConverseCommand({ modelId: nova, messages: messagesOf('never') }))
          .catch((caught: unknown) => caught),
      options({ deadline: '20ms', window: '10s' }),
    );
    expect(error).toMatchObject({ name: 'ModelTimeoutException', $metadata: { attempts: 1 } });
  });
});

describe('@anthropic-ai/bedrock-sdk', () => {
  const client = () =>
    new AnthropicBedrock({
      awsRegion: region,
      awsAccessKey: keys.accessKeyId,
      awsSecretKey: keys.secretAccessKey,
      baseURL: endpoint,
    });
  const asking = (content: string) => ({
    model: claude,
    max_tokens: 100,
    messages: [{ role: 'user' as const, content }],
  });

  it('messages.create', async () => {
    const anthropic = client();
    const answers = await both((prompt) => anthropic.messages.create(asking(prompt)));
    expectBoth(answers.map(({ content }) => content[0]?.type === 'text' && content[0].text));
  });

  it('messages.stream', async () => {
    const anthropic = client();
    const answers = await both(async (prompt) => {
      let text = '';
      const events = await anthropic.messages.create({ ...asking(prompt), stream: true });
      for await (const event of events) {
        if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') {
          text += event.delta.text;
        }
      }
      return text;
    });
    expectBoth(answers);
  });
});

describe('@ai-sdk/amazon-bedrock', () => {
  const model = () => createAmazonBedrock({ region, baseURL: endpoint, ...keys })(nova);

  it('generateText', async () => {
    const answers = await both((prompt) => generateText({ model: model(), prompt }));
    expectBoth(answers.map(({ text }) => text));
  });

  it('streamText', async () => {
    const answers = await both(async (prompt) => streamText({ model: model(), prompt }).text);
    expectBoth(answers);
  });

  it('with a Bedrock API key: calls carry the key, jobs are signed', async () => {
    const own = createAmazonBedrock({ region, baseURL: endpoint, apiKey: 'bedrock-api-key-1' });
    const answers = await both((prompt) => generateText({ model: own(nova), prompt }));
    expectBoth(answers.map(({ text }) => text));
  });
});

describe('@langchain/aws', () => {
  const given = { region, credentials: keys };

  it('ChatBedrockConverse', async () => {
    const client = new BedrockRuntimeClient({ ...given, endpoint });
    const chat = new ChatBedrockConverse({ ...given, model: nova, client });
    const answers = await both((prompt) => chat.invoke(prompt));
    expectBoth(answers.map(({ text }) => text));
  });

  it('BedrockEmbeddings', async () => {
    const client = new BedrockRuntimeClient({ ...given, endpoint });
    const embeddings = new BedrockEmbeddings({ ...given, model: titan, client });
    const vectors = await both((prompt) => embeddings.embedQuery(prompt));
    expect(vectors).toEqual(Array(2).fill([0.25, -0.5, 0.75]));
  });
});

describe('the simulator, asked by the clients of AWS', () => {
  const control = () => new BedrockClient({ region, endpoint, credentials: keys });
  const storage = () => new S3Client({ region, endpoint, credentials: keys, forcePathStyle: true });
  const job = (name: string) => ({
    jobName: name,
    clientRequestToken: name,
    roleArn: 'arn:aws:iam::123456789012:role/batches',
    modelId: nova,
    modelInvocationType: 'Converse' as const,
    inputDataConfig: {
      s3InputDataConfig: { s3Uri: 's3://bucket/in.jsonl', s3InputFormat: 'JSONL' as const },
    },
    outputDataConfig: { s3OutputDataConfig: { s3Uri: 's3://bucket/out/' } },
  });

  it('plays jobs and S3 as they understand them, and makes one job of two creates', async () => {
    const [bedrock, s3] = [control(), storage()];
    const input = { messages: [{ role: 'user', content: [{ text: 'hello' }] }] };
    const Body = JSON.stringify({ recordId: 'one', modelInput: input });
    await s3.send(new PutObjectCommand({ Bucket: 'bucket', Key: 'in.jsonl', Body }));
    const create = () => bedrock.send(new CreateModelInvocationJobCommand(job('job-1')));
    const [first, second] = [await create(), await create()];
    expect(second.jobArn).toBe(first.jobArn);
    const jobIdentifier = first.jobArn;
    await expect
      .poll(
        async () =>
          (await bedrock.send(new GetModelInvocationJobCommand({ jobIdentifier }))).status,
      )
      .toBe('Completed');
    const listed = await bedrock.send(
      new ListModelInvocationJobsCommand({ nameContains: 'job-1' }),
    );
    expect(listed.invocationJobSummaries).toMatchObject([
      { jobArn: first.jobArn, clientRequestToken: 'job-1', status: 'Completed' },
    ]);
    const id = first.jobArn?.split('/').at(-1);
    const Key = `out/${id}/in.jsonl.out`;
    const { Body: output } = await s3.send(new GetObjectCommand({ Bucket: 'bucket', Key }));
    const row = JSON.parse((await output?.transformToString()) ?? '');
    expect(row).toMatchObject({
      recordId: 'one',
      modelInput: input,
      modelOutput: { stopReason: 'end_turn' },
    });
  });

  it('stops a job, refuses a wrong signature, and says what is missing', async () => {
    simulator.configure({ speed: { running: 60_000 } });
    const bedrock = control();
    const Body = '{"recordId":"one","modelInput":{}}';
    await storage().send(new PutObjectCommand({ Bucket: 'bucket', Key: 'in.jsonl', Body }));
    const { jobArn: jobIdentifier } = await bedrock.send(
      new CreateModelInvocationJobCommand({ ...job('job-2'), clientRequestToken: 'other' }),
    );
    await bedrock.send(new StopModelInvocationJobCommand({ jobIdentifier }));
    const wrong = { ...keys, secretAccessKey: 'wrong' };
    const forged = new BedrockClient({ region, endpoint, credentials: wrong });
    const list = new ListModelInvocationJobsCommand({});
    await expect(forged.send(list)).rejects.toMatchObject({ name: 'InvalidSignatureException' });
    const get = new GetObjectCommand({ Bucket: 'bucket', Key: 'none' });
    await expect(storage().send(get)).rejects.toMatchObject({ name: 'NoSuchKey' });
  });
});
