import { sampleChat } from '../openai/openai-info.ts';
import type { ProviderInfo } from '../provider-info.ts';

/**
 * What is known of sference.
 *
 * @example
 * const mine: ProviderInfo = { ...sferenceInfo, name: 'mine', hosts: ['llm.example.com'] };
 */
export const sferenceInfo: ProviderInfo<'sference'> = {
  name: 'sference',
  hosts: ['api.sference.com'],
  roots: ['/v1'],
  versions: ['/v1'],
  endpoints: ['/chat/completions'],
  unbatched: ['/responses', '/messages', '/embeddings', '/decisions'],
  unbatchedBecause: {
    '/responses': 'sference answers batched responses in the shape of chat completions',
  },
  credentialHeaders: ['authorization'],
  accountHeaders: [],
  environment: ['SFERENCE_API_KEY'],
  requestIdHeader: 'x-request-id',
  exactlyFindable: false,
  sampleCall: sampleChat,
};
