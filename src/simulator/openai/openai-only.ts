import type { OpenAILike } from '../openai-like/description.ts';
import { openaiTiers } from '../openai-like/tiers.ts';
import type { AutomaticCache } from '../world/usage/automatic-prefixes.ts';

const minute = 60_000;

/** What services that copy OpenAI's API do not copy. */
export const openaiOnly: Pick<OpenAILike, 'tiers' | 'automaticCache'> = {
  tiers: openaiTiers,
  automaticCache,
};

/** From GPT-5.6 on writing is billed, and entries live longer. */
function automaticCache(model: string): AutomaticCache {
  const [, major = '0', minor = '0'] = /gpt-(\d+)(?:\.(\d+))?/.exec(model) ?? [];
  const isBilled = Number(major) > 5 || (Number(major) === 5 && Number(minor) >= 6);
  return {
    minimum: 1_024,
    life: (isBilled ? 30 : 10) * minute,
    write: isBilled ? 'cacheWrite' : 'free',
  };
}
