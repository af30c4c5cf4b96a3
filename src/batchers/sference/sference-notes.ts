import type { ProviderNotes } from '../provider-notes.ts';

export const sferenceNotes: ProviderNotes = {
  title: 'sference',
  foundBy:
    'the ids of its requests, among batches that are newer than a mark made before its create',
  discounts: 'Discounts are not published: batchling reckons with the full price.',
  remarks: [
    'Only chat completions are batched. Requests to `/v1/responses` come back as chat completions, so batchling sends them as ordinary calls.',
    'Creates of one account go out one at a time: nothing of ours is echoed by a create.',
    'There is no progress to show: a batch does not say how many of its requests have finished.',
    'One bad request makes sference refuse all of them. It is named, so the others are sent again without it.',
  ],
  unconfirmed: [
    'The HTTP status of a failed request is not told: batchling goes by the words of its error, and 500 stands for the rest.',
    'How many requests and bytes a batch may have: batchling keeps to 10,000 and 10 MB, and sends halves where sference says that it is too much.',
    'Whether a batch can expire: one that fails is read like any other, and what has no result is sent again.',
    'How long results are kept, and how many batches may be under way: batchling keeps to 4.',
  ],
};
