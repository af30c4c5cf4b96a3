import type { ProviderInfo } from '../provider-info.ts';

/** What is known of Mistral. `codestral.mistral.ai` is another service, which has no batches. */
export const mistralInfo: ProviderInfo<'mistral'> = {
  name: 'mistral',
  hosts: ['api.mistral.ai'],
  roots: ['/v1'],
  versions: ['/v1'],
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
  requestIdHeader: 'mistral-correlation-id',
  exactlyFindable: true,
};
