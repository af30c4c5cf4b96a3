import { openaiInfo } from '../openai/openai-info.ts';
import type { ProviderInfo, Setting } from '../provider-info.ts';

const account: Setting<string> = {
  help: 'the account whose datasets and jobs are used; the one that the key belongs to, where it is only one',
  allowed: 'the id of an account, "my-team" or "accounts/my-team"',
  parse: (value) =>
    typeof value === 'string' ? /^(?:accounts\/)?([a-z\d][\w-]*)$/i.exec(value)?.[1] : undefined,
};

/** What is known of Fireworks. */
export const fireworksInfo: ProviderInfo<'fireworks', { account: Setting<string> }> = {
  ...openaiInfo,
  name: 'fireworks',
  hosts: ['api.fireworks.ai'],
  roots: ['/inference/v1'],
  versions: ['/v1'],
  endpoints: ['/chat/completions'],
  unbatched: ['/completions', '/responses', '/messages', '/embeddings', '/rerank'],
  accountHeaders: [],
  environment: ['FIREWORKS_API_KEY'],
  baseUrlVariables: [
    { name: 'FIREWORKS_BASE_URL', usual: 'https://api.fireworks.ai', readBy: 'Python' },
  ],
  settings: { account },
  // Its batches are deleted, and the datasets of their results with them.
  cancelLosesWork: true,
  sampleModels: { 'api.fireworks.ai': 'accounts/fireworks/models/gpt-oss-20b' },
};
