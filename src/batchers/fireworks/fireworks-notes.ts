import type { ProviderNotes } from '../provider-notes.ts';

export const fireworksNotes: ProviderNotes = {
  title: 'Fireworks',
  foundBy: 'its id, which batchling chooses: a create that comes twice is refused',
  remarks: [
    'Batches run models by their full names, `accounts/…/models/…`. A call to a deployment or a router is made at full price.',
    'A key of several accounts needs `providers: { fireworks: { account } }`.',
    'Input and results are datasets of the account. Both are deleted once the answers are stored.',
    'A job that has expired keeps its answers, and what has not run is sent again in a job of its own: continuing it (`continuedFromJobName`) would run failed requests again whose callers have their answer.',
    'A request that Fireworks does not understand fails its whole job, which is then sent again in halves.',
    'A job is cancelled by deleting it, which loses the answers that it has.',
  ],
  unconfirmed: [
    'What a line of the error file looks like: batchling understands `{ custom_id, error: { message, code } }`, and takes the status from the code or from the words.',
    'Which status refuses an id that is taken: batchling looks for the job after any 409, and after "already exists".',
    'How long a job may take, and how long datasets are kept: batchling asks for nothing, which is 24 hours.',
    'How many requests a job may hold: batchling keeps to 50,000 and 140 MB, which one upload takes.',
  ],
};
