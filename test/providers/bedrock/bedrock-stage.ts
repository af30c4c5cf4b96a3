import {
  BedrockRuntimeClient,
  type BedrockRuntimeClientConfig,
  ConverseCommand,
} from '@aws-sdk/client-bedrock-runtime';
import type { BatchifyOptions } from '../../../src/index.ts';
import type { SimulatorOptions } from '../../../src/simulator/index.ts';
import { openStage, type Stage } from '../../support/stage.ts';

/** A stage with a client of Bedrock. */
export interface BedrockStage extends Stage {
  readonly base: string;
  client(given?: BedrockRuntimeClientConfig): BedrockRuntimeClient;
  /** Options that name the simulated provider, a bucket and a role. */
  bedrockOptions(given?: BatchifyOptions): BatchifyOptions;
}

export const region = 'us-east-1';
export const keys = keysOf('AKIDSTAGE');
export const model = 'amazon.nova-lite-v1:0';

/** Keys that the simulator knows. What follows an `@` is the account: its keys see the same. */
export function keysOf(accessKeyId: string) {
  return { accessKeyId, secretAccessKey: `secret-of-${accessKeyId}` };
}

export const setUp = {
  bucket: 's3://mine/llm',
  roleArn: 'arn:aws:iam::123456789012:role/batches',
  region,
} as const;

export async function openBedrockStage(given: SimulatorOptions = {}): Promise<BedrockStage> {
  const stage = await openStage(given);
  const base = stage.simulator.baseUrl('bedrock');
  return {
    ...stage,
    base,
    client: (more) =>
      new BedrockRuntimeClient({ region, endpoint: base, credentials: keys, ...more }),
    bedrockOptions: (more = {}) =>
      stage.options({
        ...more,
        hosts: { [base]: 'bedrock' },
        providers: { bedrock: { ...setUp, credential: () => keys, ...more.providers?.bedrock } },
      }),
  };
}

export async function converse(
  client: BedrockRuntimeClient,
  text: string,
  abortSignal?: AbortSignal,
): Promise<string> {
  const messages = [{ role: 'user' as const, content: [{ text }] }];
  const command = new ConverseCommand({ modelId: model, messages });
  const { output } = await client.send(command, abortSignal && { abortSignal });
  return output?.message?.content?.[0]?.text ?? '';
}
