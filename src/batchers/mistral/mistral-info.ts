import { sampleChat } from '../openai/openai-info.ts';
import type { ProviderInfo } from '../provider-info.ts';

/** What is known of Mistral. */
export const mistralInfo: ProviderInfo<'mistral'> = {
  name: 'mistral',
  hosts: ['api.mistral.ai'],
  unbatchedHosts: ['codestral.mistral.ai'],
  roots: ['/v1'],
  versions: ['/v1'],
  sdkAddsRoot: true,
  endpoints: [
    '/chat/completions',
    '/embeddings',
    '/fim/completions',
    '/moderations',
    '/chat/moderations',
    '/ocr',
    '/classifications',
    '/chat/classifications',
    '/conversations',
    '/audio/transcriptions',
  ],
  unbatched: [
    '/agents/completions',
    '/audio/speech',
    '/conversations/*',
    '/conversations/*/restart',
  ],
  credentialHeaders: ['authorization'],
  accountHeaders: [],
  environment: ['MISTRAL_API_KEY'],
  packages: ['@mistralai/mistralai'],
  requestIdHeader: 'mistral-correlation-id',
  exactlyFindable: true,
  sampleCall: sampleChat,
  sampleModels: { 'api.mistral.ai': 'mistral-small-latest' },
};
