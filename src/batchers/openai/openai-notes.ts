import type { ProviderNotes } from '../provider-notes.ts';

export const openaiNotes: ProviderNotes = {
  title: 'OpenAI',
  foundBy: 'its input file',
  remarks: [
    'How many prompt tokens may wait depends on the model and on the usage tier; batchling learns it from refusals.',
    'Finished answers of an expired or cancelled batch are kept, and the rest is sent again.',
  ],
  unconfirmed: [
    'The longest custom id: batchling uses less than 64 characters.',
    'How many batches may be under way: batchling keeps to 64.',
    'Whether lines with `stream` are refused: batchling takes it out.',
  ],
};
