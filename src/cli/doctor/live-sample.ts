import type { Dict } from '../../base/types.ts';
import type { ProviderInfo } from '../../batchers/provider-info.ts';
import { usageError } from '../usage-error.ts';

/** One small call, as an SDK would make it. */
export interface Sample {
  readonly base: string;
  readonly path: string;
  readonly headers: Dict;
  readonly body: string;
  readonly model: string;
}

/** Cheap models that have batches. Of other providers the user names one. */
const cheap: Readonly<Record<string, string>> = {
  openai: 'gpt-4o-mini',
  anthropic: 'claude-haiku-4-5',
  google: 'gemini-2.5-flash-lite',
  mistral: 'mistral-small-latest',
  groq: 'llama-3.1-8b-instant',
};

const prompt = 'Say OK.';
const mostTokens = 16;

export function sampleFor(
  info: ProviderInfo,
  given: { readonly model?: string; readonly base?: string },
): Sample {
  const model = given.model ?? cheap[info.name];
  if (model === undefined) throw usageError(`--live ${info.name} needs a model: --model <name>`);
  return { base: baseFor(info, given.base), model, ...callOf(info, model) };
}

function callOf(info: ProviderInfo, model: string): Pick<Sample, 'path' | 'headers' | 'body'> {
  const messages = [{ role: 'user', content: prompt }];
  if (info.endpoints.includes('/chat/completions')) {
    const body = JSON.stringify({ model, messages, max_tokens: mostTokens });
    return { path: '/chat/completions', headers: {}, body };
  }
  if (info.endpoints.includes('/messages')) {
    const body = JSON.stringify({ model, max_tokens: mostTokens, messages });
    return { path: '/messages', headers: { 'anthropic-version': '2023-06-01' }, body };
  }
  if (info.endpoints.includes('/models/*:generateContent')) {
    const body = JSON.stringify({ contents: [{ parts: [{ text: prompt }] }] });
    return { path: `/models/${model}:generateContent`, headers: {}, body };
  }
  throw usageError(`--live cannot make a call for ${info.name} yet`);
}

/** Where its batch traffic goes. */
function baseFor(
  { name, hosts, roots, versions }: ProviderInfo,
  given: string | undefined,
): string {
  const [host = '*'] = hosts;
  if (given === undefined) {
    if (host.includes('*')) throw usageError(`--live ${name} needs the base URL: --base <url>`);
    return `https://${host}${roots[0] ?? ''}`;
  }
  if (!URL.canParse(given)) throw usageError('--base must be a URL, such as https://host/v1');
  const base = given.replace(/\/+$/, '');
  const hasVersion = versions.some((version) => base.endsWith(version));
  return hasVersion ? base : `${base}${versions[0] ?? ''}`;
}
