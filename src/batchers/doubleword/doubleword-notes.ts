import type { ProviderNotes } from '../provider-notes.ts';

export const doublewordNotes: ProviderNotes = {
  title: 'Doubleword',
  foundBy: 'its input file, searched for by its metadata',
  discounts: 'The price of both windows depends on the model; savings are estimated.',
  remarks: [
    'Answers reach their callers while the batch still runs, as soon as Doubleword shows them.',
    '`completionWindow` may be 24h, or 1h, which is dearer.',
    'Lines are checked at the upload. A bad line is refused by itself, and the others are sent without it.',
    'A batch never expires: Doubleword goes on with it after its window.',
    'Failed lines are read at the end only, because Doubleword itself tries some of them again.',
    'Tags that cannot stand in an HTTP header are not sent: Doubleword repeats them as headers.',
  ],
  unconfirmed: [
    'What batches cost: batchling estimates half of the list price within 24h and three quarters within 1h.',
    'How messages of the Anthropic shape fail in a batch: `/v1/messages` is not batched.',
    'The largest body of one request: batchling keeps to the 200 MB of a file.',
    'How failed lines name their status: batchling reads the form that the open-source server writes, and any status named in the text.',
  ],
};
