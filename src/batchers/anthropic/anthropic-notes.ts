import type { ProviderNotes } from '../provider-notes.ts';

export const anthropicNotes: ProviderNotes = {
  title: 'Anthropic',
  foundBy:
    'the ids of its requests, among batches that are newer than a mark made before its create',
  remarks: [
    'Creates of one account go out one at a time: nothing of ours is echoed by a create.',
    'There is no live progress: counts say nothing before a batch has ended.',
    'Calls that differ in their version, betas, workspace or user profile never share a batch.',
    'Calls with `speed` (also of a fallback), `max_tokens: 0` or a `thread` are refused inside a batch: they go out by themselves.',
    'Tokens of OAuth expire: give `providers: { anthropic: { credential } }`, a function that returns one that is valid.',
    'Results at a foreign origin are asked for where Anthropic has none itself, and without the key.',
    'Results are kept for 29 days after the creation of a batch. What is collected later is lost and is sent again.',
  ],
  unconfirmed: [
    'Whether `speed: null` and `thread: null` are refused, too: such calls are not batched.',
    'Whether the version of a reader changes results: they are read under the version of their batch.',
    'How soon a new batch is in the list: batchling looks for ten minutes before it sends again.',
  ],
};
