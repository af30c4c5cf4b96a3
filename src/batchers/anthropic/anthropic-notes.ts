import type { ProviderNotes } from '../provider-notes.ts';

export const anthropicNotes: ProviderNotes = {
  title: 'Anthropic',
  foundBy:
    'the ids of its requests, among batches that are newer than a mark made before its create',
  remarks: [
    'Creates of one account go out one at a time: nothing of ours is echoed by a create.',
    'There is no live progress: counts say nothing before a batch has ended.',
  ],
  unconfirmed: [
    'How soon a new batch is in the list: batchling looks for ten minutes before it sends again.',
  ],
};
