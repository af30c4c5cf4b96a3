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
  credentialHeaders: ['x-goog-api-key', 'authorization'],
  credentialQuery: ['key'],
  accountHeaders: ['x-goog-user-project'],
  environment: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  requestIdHeader: 'x-goog-request-id',
  cancelLosesWork: true,
  exactlyFindable: true,
};
