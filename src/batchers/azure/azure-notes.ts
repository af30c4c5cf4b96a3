import type { ProviderNotes } from '../provider-notes.ts';

export const azureNotes: ProviderNotes = {
  title: 'Azure OpenAI',
  foundBy: 'its input file',
  remarks: [
    "Batches run on deployments of their own, of the type Global-Batch or Data-Zone-Batch. Say which one stands for an online deployment with `providers: { azure: { deployments: { 'gpt-4o': 'gpt-4o-batch' } } }`. A call without such an entry is answered with an error and goes nowhere; an entry `'mine': 'mine'` is for a deployment that is a batch deployment already.",
    'The option `only` and the list of batches know a call by its batch deployment.',
    'A batch goes to the same API as its calls: `/openai/v1`, or `/openai` with the `api-version` of the calls.',
    'A batch does not expire after 24 hours; it runs until it has finished.',
    'Input files are deleted once the answers are stored. They are given a life of 14 days as well, because a resource takes 10,000 files with an end and 500 without. Versions of the older API before 2025-03-01 know no such end.',
    'An upload is followed by a wait until Azure has processed the file.',
    'Azure wants a batch to be looked at once a minute at most, so answers come up to a minute late.',
  ],
  unconfirmed: [
    'How the older API names responses in a batch: batchling writes `/v1/responses`, as the newer one does.',
    'What happens to a batch that takes longer than its input file lives: batchling gives up after 14 days.',
    'How many batches may be under way: batchling keeps to 64.',
  ],
};
