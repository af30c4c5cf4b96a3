import { AnthropicVertex, type ClientOptions } from '@anthropic-ai/vertex-sdk';
import type { GoogleGenAI, GoogleGenAIOptions } from '@google/genai';
import type { BatchifyOptions } from '../../../src/index.ts';
import {
  authOf,
  location,
  project,
  vertexClient,
} from '../../support/programs/parts/vertex-client.ts';
import { openStage, type Stage } from '../../support/stage.ts';

/** A stage with clients of Vertex AI. */
export interface VertexStage extends Stage {
  readonly base: string;
  gemini(given?: GoogleGenAIOptions): GoogleGenAI;
  claude(given?: ClientOptions): AnthropicVertex;
  /** Options that name the simulated provider, or what stands before it, and a bucket. */
  vertexOptions(given?: BatchifyOptions, base?: string): BatchifyOptions;
}

export const bucket = 'gs://mine/llm';
export const token = 'ya29.vertex-test-token-63b1f0';

/** Where jobs are made, as the clients of Gemini and of Claude write the version. */
export const jobsPath =
  /^\/v1(beta1)?\/projects\/my-project\/locations\/[\w-]+\/batchPredictionJobs$/;

export async function openVertexStage(): Promise<VertexStage> {
  const stage = await openStage();
  const base = stage.simulator.baseUrl('vertex');
  return {
    ...stage,
    base,
    gemini: (given) => vertexClient(base, token, given),
    claude: (given) =>
      new AnthropicVertex({
        projectId: project,
        region: location,
        baseURL: `${base}/v1`,
        authClient: authOf(token),
        maxRetries: 0,
        ...given,
      }),
    vertexOptions: (given = {}, at = base) =>
      stage.options({
        ...given,
        hosts: { [at]: 'vertex' },
        providers: { vertex: { bucket, ...given.providers?.vertex } },
      }),
  };
}

export async function askGemini(client: GoogleGenAI, contents: string): Promise<string> {
  const { text } = await client.models.generateContent({ model: 'gemini-test', contents });
  return text ?? '';
}

export async function askClaude(client: AnthropicVertex, content: string): Promise<string> {
  const message = await client.messages.create({
    model: 'claude-test@20261021',
    max_tokens: 64,
    messages: [{ role: 'user', content }],
  });
  const [block] = message.content;
  return block?.type === 'text' ? block.text : '';
}
