import type { ProviderInfo } from '../provider-info.ts';

export const anthropicInfo: ProviderInfo<'anthropic'> = {
  name: 'anthropic',
  hosts: ['api.anthropic.com'],
  roots: ['/v1'],
  versions: ['/v1'],
  sdkAddsRoot: true,
  endpoints: ['/messages'],
  unbatched: ['/complete'],
  credentialHeaders: ['x-api-key', 'authorization'],
  accountHeaders: ['anthropic-workspace-id', 'anthropic-user-profile-id'],
  environment: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'],
  requestIdHeader: 'request-id',
  countsAtEnd: true,
  exactlyFindable: false,
};
