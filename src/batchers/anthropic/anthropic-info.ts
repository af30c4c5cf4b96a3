import { awsCredentialHeaders, lastingCredential } from '../aws/aws-identity.ts';
import type { ProviderInfo } from '../provider-info.ts';

export const anthropicInfo: ProviderInfo<'anthropic'> = {
  name: 'anthropic',
  // The second is Claude Platform on AWS.
  hosts: ['api.anthropic.com', 'aws-external-anthropic.*.api.aws'],
  roots: ['/v1'],
  versions: ['/v1'],
  sdkAddsRoot: true,
  endpoints: ['/messages'],
  unbatched: ['/complete'],
  wires: [
    {
      title: 'Anthropic',
      before: '/',
      endings: ['messages'],
      isCommonWord: true,
      isMeant: (headers, body) =>
        typeof body.model === 'string' &&
        Array.isArray(body.messages) &&
        ('max_tokens' in body || headers['anthropic-version'] !== undefined),
    },
  ],
  credentialHeaders: ['x-api-key', ...awsCredentialHeaders],
  lastingCredential,
  accountHeaders: ['anthropic-workspace-id', 'anthropic-user-profile-id'],
  environment: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'],
  baseUrlVariables: [
    {
      name: 'ANTHROPIC_BASE_URL',
      usual: 'https://api.anthropic.com',
      readBy: 'Python, JavaScript, Go, Ruby',
    },
  ],
  packages: ['@anthropic-ai/sdk'],
  requestIdHeader: 'request-id',
  namesStreamEvents: true,
  unreadCache:
    'mark the last block that requests share with cache_control; one at the top of the body marks the end of each request',
  countsAtEnd: true,
  exactlyFindable: false,
  sampleCall: (model) => ({
    path: '/messages',
    headers: { 'anthropic-version': '2023-06-01' },
    body: { model, max_tokens: 16, messages: [{ role: 'user', content: 'Say OK.' }] },
  }),
  sampleModels: { 'api.anthropic.com': 'claude-haiku-4-5' },
};
