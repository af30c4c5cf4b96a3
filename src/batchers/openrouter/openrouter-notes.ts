import type { ProviderNotes } from '../provider-notes.ts';

export const openrouterNotes: ProviderNotes = {
  title: 'OpenRouter',
  foundBy:
    'the ids of its requests, among batches that are newer than a mark made before its create',
  discounts:
    'Batches typically cost half of the list price; web searches are not discounted. What an answer says of its own cost counts.',
  remarks: [
    'Only models with a `:batch` variant have batches. A call to another model gets the 400 of OpenRouter; leave such models out with `only`.',
    'Batches are for text: calls with images, speech, films or files, or that ask for anything but text, go out as ordinary calls. So do calls with an `anthropic-beta` header or fallback `models`.',
    'Of the routing preferences only `provider.only` is kept in a batch. A call with any other goes out as an ordinary call, so that none is dropped in silence.',
    'Requests to models of Google share a batch only if they ask for the same format of their answers.',
    'The only window is 24 hours, but a batch of a model of Google may take up to 96.',
    'Creates of one account go out one at a time: nothing of ours is echoed by a create.',
    'There is no way to cancel a batch: it runs to its end, and is paid for. A `deadline` gives its callers an error, and the next run gets the answers.',
    'A batch that expires or is cancelled shows none of its answers, as the quickstart has it: all of its requests are sent again. Answers that it shows all the same are used. Results are kept for 30 days.',
    'One request that OpenRouter cannot translate for the provider behind it fails the batch. Nothing of it has run; it is sent again in halves until that request stands alone.',
  ],
  unconfirmed: [
    'Which path stays: batchling uses `/api/beta/batches` of the quickstart, and where that is answered with 404 `/api/v1/batches` of the generated reference.',
    'How many requests and bytes a batch may have: batchling keeps to 10,000 and 50 MB, and sends halves where OpenRouter says that it is too much.',
    'The HTTP status of a request that failed at the provider behind OpenRouter: batchling goes by the kind, the type and the words of its error, and 500 stands for the rest.',
    'Links to images, which newer documentation allows at some providers: where they are not supported they fail the whole batch, so they are not batched.',
    'How many batches may be under way: batchling keeps to 8.',
  ],
};
