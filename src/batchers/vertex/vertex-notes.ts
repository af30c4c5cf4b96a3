import type { ProviderNotes } from '../provider-notes.ts';

export const vertexNotes: ProviderNotes = {
  title: 'Google Vertex AI',
  foundBy: 'its display name, which is unique',
  remarks: [
    'Needs `providers: { vertex: { bucket: "gs://…" } }`. Input and output go to `batchling/<batch>/` there, and are deleted once the answers are stored. Vertex\'s service agent needs to read and write the bucket.',
    'The credential needs to create, see, list and cancel jobs, and to create, read, list and delete objects in the bucket. Where a right is missing, nothing is sent again: run the program again once it is there.',
    'Tokens expire after an hour: give `providers: { vertex: { credential: googleCredential() } }`, of `batchling/batchers`, which needs the package `google-auth-library`, or a function of your own.',
    'A row of Gemini is known by its `key`, else by the label `batchling-id` of the request it echoes, else by that request itself; never by its place. The label shows up in billing exports that are broken down by labels.',
    'Claude is batched outside of the location `global`, and without `anthropic-beta`: a row has no headers. At most four jobs are under way at once.',
    'Not batched: express mode, which has no project, `cachedContent`, which Vertex refuses in batches, embeddings (`predict`) and tuned models.',
    'Rows that were written before a job failed, expired or was cancelled are paid for, and are used.',
    'Behind a gateway, named by the option `hosts`, Cloud Storage is looked for below the same base: `/storage/v1` and `/upload/storage/v1`.',
  ],
  unconfirmed: [
    'Whether rows of Gemini echo `key` (others report it): label and request make up for it.',
    'The form of rows of Claude in Cloud Storage: a message as an object and one as text are both understood.',
    'Whether several jobs of Gemini have a limit: batchling keeps at most 8 under way.',
    'The most requests in a job of Claude: batchling sends at most 100,000.',
  ],
};
