import type { ProviderInfo, SampleCall } from '../provider-info.ts';

/**
 * Where an API begins: at its version, or at a name that says whose API it is. `/survey/responses` is none,
 * whatever its body holds.
 */
const apiRoot = String.raw`(?:^|/v\d+\w*|/openai|/deployments/[^/]+)/`;

/**
 * What is known of OpenAI, to be spread and changed by services that copy it.
 *
 * @example
 * const mine: ProviderInfo = { ...openaiInfo, name: 'mine', hosts: ['llm.example.com'] };
 */
export const openaiInfo: ProviderInfo<'openai'> = {
  name: 'openai',
  hosts: ['api.openai.com'],
  roots: ['/v1'],
  versions: ['/v1'],
  endpoints: [
    '/chat/completions',
    '/responses',
    '/embeddings',
    '/completions',
    '/moderations',
    '/images/generations',
    '/images/edits',
  ],
  unbatched: [
    '/images/variations',
    '/audio/speech',
    '/audio/transcriptions',
    '/audio/translations',
    '/videos',
  ],
  wires: [
    { title: 'OpenAI', before: '/chat/', endings: ['completions'] },
    {
      title: 'OpenAI',
      before: apiRoot,
      endings: ['responses', 'embeddings'],
      isMeant: (_headers, body) => typeof body.model === 'string' && 'input' in body,
    },
    {
      title: 'OpenAI',
      before: apiRoot,
      endings: ['completions'],
      isMeant: (_headers, body) => typeof body.model === 'string' && 'prompt' in body,
    },
  ],
  credentialHeaders: ['authorization'],
  accountHeaders: ['openai-organization', 'openai-project'],
  accountEnvironment: {
    'openai-organization': 'OPENAI_ORG_ID',
    'openai-project': 'OPENAI_PROJECT_ID',
  },
  environment: ['OPENAI_API_KEY'],
  baseUrlVariables: [
    {
      name: 'OPENAI_BASE_URL',
      usual: 'https://api.openai.com/v1',
      readBy: 'Python, JavaScript, Go, Java, Ruby',
    },
  ],
  packages: ['openai', '@openai/agents'],
  requestIdHeader: 'x-request-id',
  unreadCache:
    'prompt_cache_options: { mode: "explicit" } without breakpoints keeps GPT-5.6 and newer from writing unasked',
  exactlyFindable: true,
  sampleCall: sampleChat,
  sampleModels: { 'api.openai.com': 'gpt-4o-mini' },
};

/** The sample call of every provider with chat completions. */
export function sampleChat(model: string): SampleCall {
  const messages = [{ role: 'user', content: 'Say OK.' }];
  return { path: '/chat/completions', body: { model, messages, max_tokens: 16 } };
}
