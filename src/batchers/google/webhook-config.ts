import type { Plan } from '../batcher.ts';

/** The part of a create that asks to be told when the batch is over. */
export function webhookConfig({ settings }: Plan): object | undefined {
  const { webhookUrl } = settings;
  return webhookUrl === undefined ? undefined : { webhookConfig: { uris: [webhookUrl] } };
}
