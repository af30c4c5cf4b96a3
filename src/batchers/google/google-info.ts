import type { ProviderInfo, Setting } from '../provider-info.ts';

const webhookUrl: Setting<string> = {
  help: 'asked to be told at this URL when a batch is over; `serve --public-url` sets it',
  allowed: 'an https URL',
  parse: (value) => {
    if (typeof value !== 'string' || !URL.canParse(value)) return undefined;
    const { protocol, href } = new URL(value);
    return protocol === 'https:' || protocol === 'http:' ? href : undefined;
  },
};

export const googleInfo: ProviderInfo<'google', { webhookUrl: Setting<string> }> = {
  name: 'google',
  hosts: ['generativelanguage.googleapis.com'],
  roots: ['/v1beta', '/v1'],
  versions: ['/v1beta', '/v1'],
  sdkAddsRoot: true,
  endpoints: [
    '/models/*:generateContent',
    '/models/*:streamGenerateContent',
    '/models/*:embedContent',
    '/models/*:batchEmbedContents',
  ],
  unbatched: ['/models/*:predict', '/models/*:predictLongRunning', '/interactions'],
  wires: [
    {
      title: 'Gemini',
      // Below publishers it is Vertex AI.
      before: '^(?!.*/publishers/).*:',
      endings: ['generateContent', 'streamGenerateContent', 'embedContent', 'batchEmbedContents'],
    },
  ],
  credentialHeaders: ['x-goog-api-key', 'authorization'],
  credentialQuery: ['key'],
  accountHeaders: ['x-goog-user-project'],
  environment: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  baseUrlVariables: [
    {
      name: 'GOOGLE_GEMINI_BASE_URL',
      usual: 'https://generativelanguage.googleapis.com',
      readBy: 'Python, JavaScript, Go',
    },
  ],
  packages: ['@google/genai'],
  requestIdHeader: 'x-goog-request-id',
  cancelLosesWork: true,
  settings: { webhookUrl },
  exactlyFindable: true,
  sampleCall: (model) => ({
    path: `/models/${model}:generateContent`,
    body: { contents: [{ parts: [{ text: 'Say OK.' }] }] },
  }),
  sampleModels: { 'generativelanguage.googleapis.com': 'gemini-2.5-flash-lite' },
};
