import type { ProviderNotes } from '../provider-notes.ts';

export const togetherNotes: ProviderNotes = {
  title: 'Together AI',
  foundBy: 'its input file',
  discounts:
    'Half price for meta-llama/Llama-3.3-70B-Instruct-Turbo only. Every other model costs as much as online.',
  remarks: [
    'Some models cannot be batched. A batch that asks for one fails as a whole, and its callers get the message of Together AI.',
    'One bad request can fail the whole batch, and Together AI does not say which one it was.',
    'A batch says how far it is as a percentage, which batchling shows as a number of requests.',
    'The file goes to a signed URL of a storage service, without the API key.',
    'A result line without a status gets one by the words of its error: rate limits, time-outs and server errors are tried again, what is called invalid is final, and what nobody knows is tried again.',
    'Batches usually end within 24 hours; very large ones may take 72.',
  ],
  unconfirmed: [
    'Which words the error of a result line may have: `invalid_model` and `timeout` are documented.',
    'What requests of an expired or cancelled batch look like in its files: what has no line is sent again.',
    'Whether a batch that is being cancelled has a status of its own: CANCELING and CANCELLING are understood.',
    'How long files and results are kept.',
    'How many batches may be under way: batchling keeps to 64.',
    'Whether batches may mix models: batchling does not.',
  ],
};
