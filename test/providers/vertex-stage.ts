import { AnthropicVertex, type ClientOptions } from '@anthropic-ai/vertex-sdk';
import { GoogleGenAI, type GoogleGenAIOptions } from '@google/genai';
import { OAuth2Client } from 'google-auth-library';
import type { BatchifyOptions } from '../../src/index.ts';
import { openStage, type Stage } from '../support/stage.ts';

/** A stage with clients of Vertex AI. */
export interface VertexStage extends Stage {
  readonly base: string;
  gemini(given?: GoogleGenAIOptions): GoogleGenAI;
  claude(given?: ClientOptions): AnthropicVertex;
  /** Options that name the simulated provider, or what stands before it, and a bucket. */
  vertexOptions(given?: BatchifyOptions, base?: string): BatchifyOptions;
}

export const project = 'my-project';
export const location = 'us-central1';
export const bucket = 'gs://mine/llm';
export const token = 'ya29.vertex-test-token-63b1f0';

/** Where jobs are made, as the clients of Gemini and of Claude write the version. */
export const jobsPath =
  /^\/v1(beta1)?\/projects\/my-project\/locations\/[\w-]+\/batchPredictionJobs$/;

/** What makes a client of Google send this token. */
export function authOf(accessToken: string): OAuth2Client {
  const client = new OAuth2Client();
  client.setCredentials({ access_token: accessToken, expiry_date: Date.now() + 3_600_000 });
  return client;
}

export function geminiAt(baseUrl: string, accessToken = token, given: GoogleGenAIOptions = {}) {
  const googleAuthOptions = { authClient: authOf(accessToken) };
  const httpOptions = { baseUrl };
  const where = { vertexai: true, project, location };
  return new GoogleGenAI({ ...where, googleAuthOptions, httpOptions, ...given });
}

export async function openVertexStage(): Promise<VertexStage> {
  const stage = await openStage();
  const base = stage.simulator.baseUrl('vertex');
  return {
    ...stage,
    base,
    gemini: (given) => geminiAt(base, token, given),
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
