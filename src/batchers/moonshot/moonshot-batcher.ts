import type { Call, Limits, Match } from '../batcher.ts';
import { moonshotInfo } from '../compatible/compatible-info.ts';
import { OpenAIBatcher } from '../openai/openai-batcher.ts';
import type { ProviderInfo } from '../provider-info.ts';
import type { ProviderNotes } from '../provider-notes.ts';
import { daysUpTo } from '../shared/windows.ts';

const day = 86_400_000;
const priceShare = 0.6;

/**
 * Moonshot's batches: OpenAI's, within half a day to a week.
 *
 * @example
 * await batchify(askAll, { completionWindow: '12h', only: 'moonshot' });
 */
export class MoonshotBatcher extends OpenAIBatcher {
  override readonly info: ProviderInfo = moonshotInfo;
  override readonly notes: ProviderNotes = notes;
  protected override readonly ownLimits: Partial<Limits> = {
    items: 10_000,
    bytes: 95_000_000,
    itemBytes: 95_000_000,
    windows: {
      '12h': { word: '12h', priceShare },
      ...daysUpTo(7, (days) => `${days}d`, priceShare),
    },
    outlives: 8 * day,
  };

  override match(call: Call): Match {
    const refused = ['temperature', 'top_p'].find((name) => name in call.json);
    if (refused === undefined) return super.match(call);
    return { bypass: `batches of Moonshot take no \`${refused}\`` };
  }
}

const notes: ProviderNotes = {
  title: 'Moonshot (Kimi)',
  foundBy: 'its input file',
  remarks: [
    '`completionWindow` may be 12h, or a whole number of days up to 7d.',
    'A call with `temperature` or `top_p` cannot be batched there and is made at full price: without them its answer would be another.',
    'Only some models can be batched; Moonshot says so for others.',
  ],
  unconfirmed: [
    'What batches cost: batchling estimates 60 % of the list price.',
    'How many requests a batch may hold: batchling keeps to 10,000.',
  ],
};
