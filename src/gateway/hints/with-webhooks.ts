import { type ResolvedOptions, resolveOptions } from '../../options/index.ts';

/** The options of a gateway that Gemini can reach: it is told of each batch that is over. */
export function withWebhooks(
  options: Readonly<Record<string, unknown>>,
  publicUrl: URL,
): Readonly<Record<string, unknown>> {
  const { providers } = resolveOptions(options);
  const webhookUrl = new URL('webhooks/google', asFolder(publicUrl)).href;
  return { ...options, providers: { ...providers, google: { webhookUrl, ...providers.google } } };
}

function asFolder({ href }: URL): string {
  return href.endsWith('/') ? href : `${href}/`;
}

/** Where Gemini is asked to tell of each batch, if it is. */
export function googleWebhook({ providers }: Pick<ResolvedOptions, 'providers'>): URL | undefined {
  const url = providers.google?.webhookUrl;
  return typeof url === 'string' ? new URL(url) : undefined;
}
