import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import AnthropicBedrock from '@anthropic-ai/bedrock-sdk';
import {
  BedrockRuntimeClient,
  BedrockRuntimeServiceException,
  ConverseCommand,
  ConverseStreamCommand,
} from '@aws-sdk/client-bedrock-runtime';
import { ChatBedrockConverse } from '@langchain/aws';
import { APICallError, generateText, RetryError, streamText } from 'ai';
import type { AskOptions, ClientAdapter } from '../../support/clients/client-cases.ts';
import { clientCases } from '../../support/clients/client-cases.ts';

const keys = { accessKeyId: 'AKIDCLIENTS', secretAccessKey: 'secret-of-AKIDCLIENTS' };
const region = 'us-east-1';
const nova = 'amazon.nova-lite-v1:0';
const claude = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';

/** A job of the simulator may be smaller here than one of AWS. */
const provided = {
  provider: 'bedrock',
  simulated: { limits: { bedrock: { leastRequestsPerBatch: 1 } } },
  options: {
    providers: {
      bedrock: {
        bucket: 's3://clients',
        roleArn: 'arn:aws:iam::123456789012:role/batches',
        region,
        credential: () => keys,
        limits: { leastRequests: 1 },
      },
    },
  },
  serverError: 424,
} satisfies Partial<ClientAdapter>;

const oneMessage = (text: string) => [{ role: 'user' as const, content: [{ text }] }];

function connectAws({ simulator, timeout }: AskOptions): BedrockRuntimeClient {
  return new BedrockRuntimeClient({
    region,
    endpoint: simulator.baseUrl('bedrock'),
    credentials: keys,
    ...(timeout !== undefined && { requestHandler: { requestTimeout: timeout } }),
  });
}

clientCases({
  ...provided,
  name: '@aws-sdk/client-bedrock-runtime',
  packages: ['@aws-sdk/client-bedrock-runtime'],
  async ask(content, options) {
    const { signal } = options;
    const command = new ConverseCommand({ modelId: nova, messages: oneMessage(content) });
    const { output } = await connectAws(options).send(command, {
      ...(signal && { abortSignal: signal }),
    });
    return output?.message?.content?.[0]?.text ?? '';
  },
  async stream(content, options) {
    const command = new ConverseStreamCommand({ modelId: nova, messages: oneMessage(content) });
    const { stream } = await connectAws(options).send(command);
    let text = '';
    for await (const { contentBlockDelta } of stream ?? []) {
      text += contentBlockDelta?.delta?.text ?? '';
    }
    return text;
  },
  statusOf: (error) =>
    error instanceof BedrockRuntimeServiceException ? error.$metadata.httpStatusCode : undefined,
});

function connectAnthropic({ simulator, timeout }: AskOptions): AnthropicBedrock {
  return new AnthropicBedrock({
    awsRegion: region,
    awsAccessKey: keys.accessKeyId,
    awsSecretKey: keys.secretAccessKey,
    baseURL: simulator.baseUrl('bedrock'),
    ...(timeout !== undefined && { timeout }),
  });
}

const asking = (content: string) => ({
  model: claude,
  max_tokens: 100,
  messages: [{ role: 'user' as const, content }],
});

clientCases({
  ...provided,
  name: '@anthropic-ai/bedrock-sdk',
  packages: ['@anthropic-ai/bedrock-sdk'],
  async ask(prompt, options) {
    const { signal } = options;
    const { content } = await connectAnthropic(options).messages.create(asking(prompt), {
      ...(signal && { signal }),
    });
    const [block] = content;
    return block?.type === 'text' ? block.text : '';
  },
  async stream(prompt, options) {
    const stream = await connectAnthropic(options).messages.create({
      ...asking(prompt),
      stream: true,
    });
    let text = '';
    for await (const event of stream) {
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') {
        text += event.delta.text;
      }
    }
    return text;
  },
  // Its errors are those of the SDK that it brings along.
  statusOf: (error) =>
    error instanceof Error && 'status' in error && 'requestID' in error
      ? (error.status as number)
      : undefined,
});

const modelOf = ({ simulator }: AskOptions) =>
  createAmazonBedrock({ region, baseURL: simulator.baseUrl('bedrock'), ...keys })(nova);

clientCases({
  ...provided,
  name: 'ai + @ai-sdk/amazon-bedrock: Bedrock',
  packages: ['ai', '@ai-sdk/amazon-bedrock'],
  async ask(prompt, options) {
    const { signal, timeout } = options;
    const abortSignal =
      signal ?? (timeout === undefined ? undefined : AbortSignal.timeout(timeout));
    const model = modelOf(options);
    return (await generateText({ model, prompt, ...(abortSignal && { abortSignal }) })).text;
  },
  stream: async (prompt, options) => streamText({ model: modelOf(options), prompt }).text,
  statusOf: (error) => {
    const last = RetryError.isInstance(error) ? error.lastError : error;
    return APICallError.isInstance(last) ? last.statusCode : undefined;
  },
});

const chatOf = (options: AskOptions) =>
  new ChatBedrockConverse({ model: nova, region, maxRetries: 0, client: connectAws(options) });

clientCases({
  ...provided,
  name: '@langchain/aws',
  packages: ['@langchain/aws'],
  async ask(prompt, options) {
    const { signal } = options;
    return (await chatOf(options).invoke(prompt, { ...(signal && { signal }) })).text;
  },
  async stream(prompt, options) {
    let text = '';
    for await (const chunk of await chatOf(options).stream(prompt)) text += chunk.text;
    return text;
  },
  statusOf: (error) =>
    error instanceof Error && '$metadata' in error
      ? (error.$metadata as { httpStatusCode?: number }).httpStatusCode
      : undefined,
});
