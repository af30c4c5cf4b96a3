import type { ProviderNotes } from '../provider-notes.ts';

export const mistralNotes: ProviderNotes = {
  title: 'Mistral',
  foundBy: 'its metadata, or its input file',
  remarks: [
    'A job has one model, so `model` moves from the body of a request to the job.',
    'Fewer than 10,000 requests of together at most 10 MB travel in the create call, more of them in a file.',
    'Transcriptions are batched if they are sent as JSON with `file_url` or `file_id`; the official SDK sends a form, which goes out at full price.',
    'Conversations are batched with `store: false` and a `model`; those of an agent, those to be continued and streamed ones go out at full price.',
    'Pages of OCR are not counted as tokens, so what they cost is not estimated.',
    'One workspace may have a million requests waiting.',
    '`codestral.mistral.ai` has no batches.',
  ],
  unconfirmed: [
    'How long results can be downloaded: one page says 24 hours, another says for good. batchling downloads them at once.',
    'How many requests a job may have: one page says a million, another 100,000. batchling keeps to the smaller number, and to 500 MB of the 512 MB that are documented.',
    'How many bytes may travel in the create call: batchling keeps to 10 MB, about the size of one image that the chat endpoint takes.',
    'Whether a job may run for whole seven days: the documentation says less than that, and batchling offers up to six.',
    'How a line that failed looks: batchling reads `response`, `error` and `detail`.',
    'Whether requests that a job did not get to have a line of their own: batchling sends what has none again.',
    'Whether the list of jobs can be filtered by metadata as the SDK does it: batchling compares the metadata itself.',
    'Whether a conversation of a job is stored: batchling leaves those alone that are to be stored.',
  ],
};
