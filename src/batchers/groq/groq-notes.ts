import type { ProviderNotes } from '../provider-notes.ts';

export const groqNotes: ProviderNotes = {
  title: 'Groq',
  foundBy: 'its input file',
  remarks: [
    'Batches need a paid plan. Without one they are refused, and callers get what Groq says about it.',
    'Groq advises batches of about 1,000 requests: batchling sends that many unless `batchSize` says otherwise.',
    '`completionWindow` may be 24h or a whole number of days up to 7d. Groq advises longer ones, because fewer requests expire.',
    'Up to 200 batches are looked at in one request.',
  ],
  unconfirmed: [
    'How lines of the audio endpoints look: batchling does not batch them.',
    'The shape of failed lines: batchling expects that of OpenAI.',
    'Whether one file may hold several models: batchling keeps them apart.',
    'The size of a file: 200 MB in the guide and 100 MB in the SDK, so batchling keeps to the smaller one.',
  ],
};
