import type { ProviderNotes } from '../provider-notes.ts';

export const googleNotes: ProviderNotes = {
  title: 'Google Gemini',
  foundBy: 'its display name, which is unique',
  remarks: [
    'Batches of up to 20 requests travel in their create; larger ones are uploaded as a file, in chunks.',
    'An embedding of several contents (`batchEmbedContents`) is one request per content, and one answer again.',
    'A batch that is cancelled, or expires after 48 hours, loses the answers that were finished: its requests are sent again.',
    'A batch has one model, because the model is part of the path of its create.',
    'Imagen and Veo (`predict`), the Live API and `interactions` have no batches; `countTokens` is free and passes through.',
    'Calls to /v1 are batched below /v1beta, where files and batches are documented.',
  ],
  unconfirmed: [
    'The order of the list of batches: batchling reads all of it when it looks for one.',
    'The most requests in a batch: batchling sends at most 50,000.',
    'How many tokens may wait for a model: it depends on the plan, and batchling learns it from refusals.',
    'Whether a cancelled or expired batch ever shows some of its answers: batchling takes them if it does.',
  ],
};
