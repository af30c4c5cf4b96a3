import type { Dict } from '../base/types.ts';

/** A kind of LLM call that several services understand, known by its URL. */
export interface LlmWire {
  /** How people call it. */
  readonly name: string;
  /** The built-in batcher that speaks it, and the base URL that its SDK would have been given. */
  readonly capturable?: { readonly provider: string; readonly base: RegExp };
  readonly path: RegExp;
  /** Spoken at this host only: the path says little. */
  readonly host?: RegExp;
  /** Whether this is an LLM call indeed, where the path is a common word. Missing: the path says it. */
  isMeant?(headers: Dict, body: Body): boolean;
}

type Body = Readonly<Record<string, unknown>>;

const openai = {
  provider: 'openai',
  base: /^(.*?)\/(?:chat\/completions|completions|responses|embeddings)$/,
};

/**
 * Where an API begins: at its version, or at a name that says whose API it is. `/survey/responses` is none,
 * whatever its body holds.
 */
const apiRoot = String.raw`(?:^|/v\d+\w*|/openai|/deployments/[^/]+)`;

const wires: readonly LlmWire[] = [
  { name: 'OpenAI', capturable: openai, path: /\/chat\/completions$/ },
  {
    name: 'OpenAI',
    capturable: openai,
    path: new RegExp(`${apiRoot}/(?:responses|embeddings)$`),
    isMeant: (_headers, body) => hasModel(body) && 'input' in body,
  },
  {
    name: 'OpenAI',
    capturable: openai,
    path: new RegExp(`${apiRoot}/completions$`),
    isMeant: (_headers, body) => hasModel(body) && 'prompt' in body,
  },
  {
    name: 'Anthropic',
    capturable: { provider: 'anthropic', base: /^(.*?)(?:\/v1)?\/messages$/ },
    path: /\/messages$/,
    isMeant: (headers, body) =>
      hasModel(body) &&
      Array.isArray(body.messages) &&
      ('max_tokens' in body || headers['anthropic-version'] !== undefined),
  },
  {
    name: 'Vertex AI',
    capturable: {
      provider: 'vertex',
      base: /^(.*?)(?:\/v1(?:beta1)?)?\/projects\/[^/]+\/locations\//,
    },
    path: /\/projects\/[^/]+\/locations\/[^/]+\/publishers\/(?:google\/models\/[^/]+:(?:generateContent|streamGenerateContent)|anthropic\/models\/[^/]+:(?:rawPredict|streamRawPredict))$/,
  },
  { name: 'Vertex AI', path: /\/publishers\/[^/]+\/models\/[^/]+:\w+$/ },
  {
    name: 'Gemini',
    capturable: { provider: 'google', base: /^(.*?)(?:\/v1(?:beta)?)?\/models\/[^/]+$/ },
    path: /:(generateContent|streamGenerateContent|embedContent|batchEmbedContents)$/,
  },
  {
    name: 'Amazon Bedrock',
    host: /^bedrock-runtime\./,
    path: /\/model\/[^/]+\/(invoke|invoke-with-response-stream|converse|converse-stream)$/,
  },
  { name: 'Cohere', host: /^api\.cohere\.(com|ai)$/, path: /\/v\d\/(chat|embed|generate)$/ },
];

/** The last words of all these paths. A path that ends in none of them is not looked at. */
export const wireEndings: readonly string[] = [
  'completions',
  'responses',
  'embeddings',
  'messages',
  'generateContent',
  'streamGenerateContent',
  'embedContent',
  'batchEmbedContents',
  'rawPredict',
  'streamRawPredict',
  'invoke',
  'invoke-with-response-stream',
  'converse',
  'converse-stream',
  'chat',
  'embed',
  'generate',
];

export function wireOf({ host, pathname }: URL): LlmWire | undefined {
  return wires.find((wire) => wire.path.test(pathname) && (wire.host?.test(host) ?? true));
}

function hasModel({ model }: Body): boolean {
  return typeof model === 'string';
}

/** Providers by hosts that no built-in batcher names, so that a `hosts` entry would not help. */
const others: readonly (readonly [name: string, hosts: RegExp])[] = [
  ['mistral', /^codestral\.mistral\.ai$/],
  ['openrouter', /^openrouter\.ai$/],
  ['deepseek', /^api\.deepseek\.com$/],
  ['fireworks', /^api\.fireworks\.ai$/],
  ['perplexity', /^api\.perplexity\.ai$/],
  ['cerebras', /^api\.cerebras\.ai$/],
  ['voyage', /^api\.voyageai\.com$/],
];

/** The name of a provider by such a host. */
export function otherProvider(host: string): string | undefined {
  return others.find(([, hosts]) => hosts.test(host))?.[0];
}
