import { sampleChat } from '../openai/openai-info.ts';
import type { ProviderInfo } from '../provider-info.ts';

/**
 * What is known of xAI.
 *
 * @example
 * const mine: ProviderInfo = { ...xaiInfo, name: 'mine', hosts: ['eu-west-1.api.x.ai'] };
 */
export const xaiInfo: ProviderInfo<'xai'> = {
  name: 'xai',
  hosts: ['api.x.ai'],
  roots: ['/v1'],
  versions: ['/v1'],
  endpoints: ['/chat/completions'],
  unbatched: [
    '/responses',
    '/completions',
    '/messages',
    '/images/generations',
    '/images/edits',
    '/videos',
    '/videos/generations',
    '/videos/edits',
    '/videos/extensions',
  ],
  unbatchedBecause: {
    '/responses': 'xAI answers batched responses in the shape of chat completions',
    '/images/generations': 'xAI has no batch discount for images, and their URLs last for one hour',
    '/images/edits': 'xAI has no batch discount for images, and their URLs last for one hour',
  },
  credentialHeaders: ['authorization'],
  accountHeaders: [],
  environment: ['XAI_API_KEY'],
  priceListName: 'x-ai',
  requestIdHeader: 'x-request-id',
  exactlyFindable: true,
  sampleCall: sampleChat,
};
