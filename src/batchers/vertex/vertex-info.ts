import type { ProviderInfo, Setting } from '../provider-info.ts';

const inBucket = /^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9](?:\/[\w.=+@~()-]+)*$/;

const bucket: Setting<string> = {
  help: 'the bucket, or a folder in one, for input and output files of batches',
  allowed: 'a bucket of Cloud Storage: "bucket", "gs://bucket" or "gs://bucket/folder"',
  parse: (value) => {
    if (typeof value !== 'string') return undefined;
    const name = value.replace(/^gs:\/\//, '').replace(/\/+$/, '');
    return inBucket.test(name) ? `gs://${name}` : undefined;
  },
};

const inProject = '/projects/*/locations/*';
const needsProject = 'Vertex has batches in projects only: express mode names none';

/**
 * What is known of Vertex AI. A project and a location stand in every path; jobs belong to both.
 *
 * @example
 * const mine: ProviderInfo = { ...vertexInfo, name: 'mine', hosts: ['gateway.example.com'] };
 */
export const vertexInfo: ProviderInfo<'vertex', { bucket: Setting<string> }> = {
  name: 'vertex',
  hosts: [
    '*-aiplatform.googleapis.com',
    'aiplatform.googleapis.com',
    'aiplatform.*.rep.googleapis.com',
  ],
  roots: ['/v1', '/v1beta1'],
  versions: ['/v1', '/v1beta1'],
  sdkAddsRoot: true,
  endpoints: [
    `${inProject}/publishers/google/models/*:generateContent`,
    `${inProject}/publishers/google/models/*:streamGenerateContent`,
    `${inProject}/publishers/anthropic/models/*:rawPredict`,
    `${inProject}/publishers/anthropic/models/*:streamRawPredict`,
  ],
  unbatched: [
    '/publishers/google/models/*:generateContent',
    '/publishers/google/models/*:streamGenerateContent',
    `${inProject}/publishers/*/models/*:predict`,
    `${inProject}/publishers/*/models/*:predictLongRunning`,
    `${inProject}/publishers/*/models/*:embedContent`,
    `${inProject}/publishers/mistralai/models/*:rawPredict`,
    `${inProject}/publishers/mistralai/models/*:streamRawPredict`,
    `${inProject}/endpoints/*:generateContent`,
    `${inProject}/endpoints/*:streamGenerateContent`,
    `${inProject}/endpoints/*:predict`,
    `${inProject}/endpoints/*/chat/completions`,
  ],
  unbatchedBecause: {
    '/publishers/google/models/*:generateContent': needsProject,
    '/publishers/google/models/*:streamGenerateContent': needsProject,
  },
  wires: [
    {
      title: 'Vertex AI',
      before: '/projects/[^/]+/locations/[^/]+/publishers/google/models/[^/]+:',
      endings: ['generateContent', 'streamGenerateContent'],
    },
    {
      title: 'Vertex AI',
      before: '/projects/[^/]+/locations/[^/]+/publishers/anthropic/models/[^/]+:',
      endings: ['rawPredict', 'streamRawPredict'],
    },
    {
      title: 'Vertex AI',
      before: '/publishers/[^/]+/models/[^/]+:',
      endings: [
        'generateContent',
        'streamGenerateContent',
        'rawPredict',
        'streamRawPredict',
        'embedContent',
        'batchEmbedContents',
        'predict',
        'predictLongRunning',
      ],
      isUnbatched: true,
    },
  ],
  credentialHeaders: ['authorization', 'x-goog-api-key'],
  credentialQuery: ['key'],
  accountHeaders: ['x-goog-user-project'],
  ownHeaders: /^x-vertex-ai-llm-/,
  environment: [],
  packages: ['@anthropic-ai/vertex-sdk'],
  requestIdHeader: 'x-goog-request-id',
  priceListName: 'google',
  settings: { bucket },
  countsAtEnd: true,
  exactlyFindable: true,
};
