import type { ProviderNotes } from '../provider-notes.ts';

export const anthropicNotes: ProviderNotes = {
  title: 'Anthropic',
  foundBy:
    'the ids of its requests, among batches that are newer than a mark made before its create',
  remarks: [
    'Creates of one account go out one at a time: nothing of ours is echoed by a create.',
    'There is no live progress: counts say nothing before a batch has ended.',
    'Calls that differ in their version, betas, workspace or user profile never share a batch.',
    'Calls with `speed` (also of a fallback), `max_tokens: 0` or a `thread` are refused inside a batch: they go out by themselves.',
    'Tokens of OAuth expire: give `providers: { anthropic: { credential } }`, a function that returns one that is valid.',
    'Claude Platform on AWS (`aws-external-anthropic.*.api.aws`) is the same wire: with its API key like any other, or with calls that are signed (SigV4). Requests of ours are signed anew, with `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`, or with what `@aws-sdk/credential-provider-node` finds if that package is installed. The workspace header of the calls goes with all of them.',
    'Results at a foreign origin are asked for where Anthropic has none itself, and without the key.',
    'Results are kept for 29 days after the creation of a batch. What is collected later is lost and is sent again.',
  ],
  unconfirmed: [
    'Whether `speed: null` and `thread: null` are refused, too: such calls are not batched.',
    'Whether the version of a reader changes results: they are read under the version of their batch.',
    'Whether results of Claude Platform on AWS have their URL at the same host: there they are asked for below the base first.',
    'How soon a new batch is in the list: batchling looks for ten minutes before it sends again.',
  ],
};
