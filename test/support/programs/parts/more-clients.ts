import type { BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime';
import type OpenAI from 'openai';

/** Keys that the simulator knows. */
export const awsKeys = {
  accessKeyId: 'AKIDWIRES',
  secretAccessKey: 'secret-of-AKIDWIRES',
} as const;

/** Asks for an embedding, and returns it as a text that `isVectorOf` reads. */
export async function askForEmbedding(client: OpenAI, input: string): Promise<string> {
  const encoding_format = 'float';
  const { data } = await client.embeddings.create({ model: 'voyage-test', input, encoding_format });
  return `vector ${data[0]?.embedding.join()}`;
}

/** A client of Bedrock, which speaks HTTP/2. */
export async function bedrockClient(endpoint: string): Promise<BedrockRuntimeClient> {
  const { BedrockRuntimeClient } = await import('@aws-sdk/client-bedrock-runtime');
  return new BedrockRuntimeClient({ region: 'us-east-1', endpoint, credentials: awsKeys });
}

/** Asks by Converse. */
export async function askBedrock(
  client: BedrockRuntimeClient,
  text: string,
  modelId = 'amazon.nova-lite-v1:0',
): Promise<string> {
  const { ConverseCommand } = await import('@aws-sdk/client-bedrock-runtime');
  const messages = [{ role: 'user' as const, content: [{ text }] }];
  const { output } = await client.send(new ConverseCommand({ modelId, messages }));
  return output?.message?.content?.[0]?.text ?? '';
}
