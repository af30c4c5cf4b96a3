import type { ProviderNotes } from '../provider-notes.ts';

export const xaiNotes: ProviderNotes = {
  title: 'xAI',
  foundBy: 'its name and its input file',
  discounts:
    '20 % off for `grok-4.3` and the `grok-4.20` models, none for any other (2026-08); batchling reckons so.',
  remarks: [
    'Only chat completions are batched. Requests to `/v1/responses` come back as chat completions, so batchling sends them as ordinary calls instead of inventing a response.',
    'Images and videos are not batched: there is no discount for them, and their URLs are dead after an hour.',
    'Models that xAI refuses in batches (`grok-4.5`, `grok-4.6`, `grok-4.7`, `grok-build-0.1`, `grok-3-mini`) and calls with tools that xAI runs itself go out as ordinary calls, with a notice.',
    'Callers are answered while the batch still runs. Large batches are read again when half as much more has finished, because xAI sorts results by id and not by time.',
    'One line that xAI finds invalid cancels the whole batch. If the message names the line, the others are sent again without it; otherwise each caller gets the message.',
    'A cancelled batch is waited for half a minute longer: requests that were running then may still be answered, and paid for.',
    'There is no completion window: most batches end within 24 hours. One that has not after three days is given up, and stays in the ledger.',
  ],
  unconfirmed: [
    'What an error of a single request looks like: batchling reads a gRPC status, a bare text and an error inside of an answer. Where no number says how bad it is, its words decide, and 500 stands for the rest.',
    'What happens when more than two batches a second are created: batchling expects status 429 and tries again later.',
    'Whether results can be read after the batch has expired, 30 days after its creation: batchling tries.',
  ],
};
