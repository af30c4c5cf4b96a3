import type { ProviderInfo } from '../provider-info.ts';

export const googleInfo: ProviderInfo<'google'> = {
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
  packages: ['@google/genai'],
  requestIdHeader: 'x-goog-request-id',
  cancelLosesWork: true,
  exactlyFindable: true,
  sampleCall: (model) => ({
    path: `/models/${model}:generateContent`,
    body: { contents: [{ parts: [{ text: 'Say OK.' }] }] },
  }),
  sampleModels: { 'generativelanguage.googleapis.com': 'gemini-2.5-flash-lite' },
};
