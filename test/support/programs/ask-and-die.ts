import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import type { GoogleGenAI } from '@google/genai';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import type { Sdk } from '../provider-wires.ts';
import {
  commitsSoFar,
  type KillPoint,
  killAtCommit,
  killAtServerCommit,
  stopAtMark,
  stopBeforeCreate,
} from './parts/commit-killer.ts';
import { type FastTime, fastClock } from './parts/fast-clock.ts';
import { askBedrock, askForEmbedding, awsKeys, bedrockClient } from './parts/more-clients.ts';
import { readInput } from './parts/read-input.ts';

/** Asks everything at once through a provider's own SDK, and may die in the midst of it. */
export interface AskInput {
  readonly sdk: Sdk;
  readonly prompts: readonly string[];
  readonly baseURL: string;
  readonly apiKey: string;
  readonly options: BatchifyOptions;
  readonly time?: FastTime;
  readonly kill?: KillPoint;
  readonly model?: string;
  /** The name of the machine that it runs on. */
  readonly host?: string;
  /** It stops itself once: with the mark that a create begins, or before the first byte of the create. */
  readonly stops?: 'at-mark' | 'before-create';
}

export interface Heard {
  readonly text?: string;
  readonly source?: string | null;
  readonly status?: number;
  readonly error?: string;
}

export interface AskOutput {
  readonly heard: readonly Heard[];
  readonly commits: number;
  /** Dollars. */
  readonly saved: number;
}

type Ask = (content: string) => Promise<Heard>;

const input = readInput<AskInput>();
const { sdk, prompts, baseURL, apiKey, options, time, kill, model, host } = input;
if (host !== undefined) {
  os.hostname = () => host;
  syncBuiltinESMExports();
}
if (options.store?.startsWith('postgres')) await killAtServerCommit(kill);
else await killAtCommit(kill);
if (input.stops === 'at-mark') await stopAtMark();
if (input.stops === 'before-create') stopBeforeCreate();
const ask = await { openai, responses, embeddings, anthropic, google, vertex, bedrock }[sdk]();
const scope = batchify({ ...options, ...(time && { clock: fastClock(time) }) });
const heard = await scope.run(() =>
  Promise.all(prompts.map((prompt) => ask(prompt).catch(heardError))),
);
await scope.close();
const { saved } = scope.stats.dollars;
console.log(JSON.stringify({ heard, commits: commitsSoFar(), saved } satisfies AskOutput));

async function openai(): Promise<Ask> {
  const { default: OpenAI } = await import('openai');
  const client = new OpenAI({ apiKey, baseURL, organization: null, project: null });
  return async (content) => {
    const { data, response } = await client.chat.completions
      .create({ model: model ?? 'gpt-test', messages: [{ role: 'user', content }] })
      .withResponse();
    const text = data.choices[0]?.message.content ?? '';
    return { text, source: response.headers.get('x-batchling-source') };
  };
}

async function responses(): Promise<Ask> {
  const { default: OpenAI } = await import('openai');
  const client = new OpenAI({ apiKey, baseURL, organization: null, project: null });
  return async (content) => {
    const { data, response } = await client.responses
      .create({ model: model ?? 'gpt-test', input: content })
      .withResponse();
    return { text: data.output_text, source: response.headers.get('x-batchling-source') };
  };
}

async function embeddings(): Promise<Ask> {
  const { default: OpenAI } = await import('openai');
  const client = new OpenAI({ apiKey, baseURL, organization: null, project: null });
  return async (content) => ({ text: await askForEmbedding(client, content) });
}

async function bedrock(): Promise<Ask> {
  process.env.AWS_ACCESS_KEY_ID = awsKeys.accessKeyId;
  process.env.AWS_SECRET_ACCESS_KEY = awsKeys.secretAccessKey;
  const client = await bedrockClient(baseURL);
  return async (content) => ({ text: await askBedrock(client, content) });
}

async function anthropic(): Promise<Ask> {
  const { default: Anthropic } = await import('@anthropic-ai/sdk');
  const client = new Anthropic({ apiKey, baseURL });
  return async (content) => {
    const { data, response } = await client.messages
      .create({
        model: model ?? 'claude-test',
        max_tokens: 64,
        messages: [{ role: 'user', content }],
      })
      .withResponse();
    const [block] = data.content;
    const text = block?.type === 'text' ? block.text : '';
    return { text, source: response.headers.get('x-batchling-source') };
  };
}

async function google(): Promise<Ask> {
  const { GoogleGenAI } = await import('@google/genai');
  return askingGemini(new GoogleGenAI({ apiKey, httpOptions: { baseUrl: baseURL } }));
}

async function vertex(): Promise<Ask> {
  const { vertexClient } = await import('./parts/vertex-client.ts');
  return askingGemini(vertexClient(baseURL, apiKey));
}

function askingGemini(client: GoogleGenAI): Ask {
  return async (contents) => {
    const answer = await client.models.generateContent({ model: model ?? 'gemini-test', contents });
    const source = answer.sdkHttpResponse?.headers?.['x-batchling-source'];
    return { text: answer.text ?? '', source: source ?? null };
  };
}

function heardError(error: unknown): Heard {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  return { error: String(error), ...(typeof status === 'number' && { status }) };
}
