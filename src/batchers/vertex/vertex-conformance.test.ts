import { APIError } from '@anthropic-ai/sdk';
import { ApiError } from '@google/genai';
import { describe } from 'vitest';
import { batcherConformance } from '../conformance/conformance-suite.test-helper.ts';
import { VertexBatcher } from './vertex-batcher.ts';

// By its number, which is how answers call a project.
const place = '/projects/123456789012/locations/us-central1';
const create = `/v1${place}/batchPredictionJobs`;

const subject = {
  batcher: new VertexBatcher(),
  settings: { bucket: 'gs://conformance/folder' },
  requests: {
    create,
    results: /^\/storage\/v1\/b\/conformance\/o\/.*predictions\.jsonl$/,
    upload: '/upload/storage/v1/b/conformance/o',
  },
};

const skip = {
  'a call without a model is left alone': 'the model is part of the path',
  'that is an empty object does not prove that a batch is absent': '{} is its empty list',
};

describe('of Gemini', () => {
  batcherConformance({
    ...subject,
    path: `${place}/publishers/google/models/gemini-test:generateContent`,
    model: 'gemini-test',
    body: (prompt) => ({ contents: [{ role: 'user', parts: [{ text: prompt }] }] }),
    sdkError: ({ status, body }) => new ApiError({ status, message: body }),
    skip,
  });
});

describe('of Claude', () => {
  batcherConformance({
    ...subject,
    path: `${place}/publishers/anthropic/models/claude-test@20261021:rawPredict`,
    model: 'claude-test@20261021',
    body: (content) => ({
      anthropic_version: 'vertex-2023-10-16',
      max_tokens: 50,
      messages: [{ role: 'user', content }],
    }),
    sdkError: ({ status, headers, body }) =>
      APIError.generate(status, JSON.parse(body), undefined, new Headers(headers)),
    skip: {
      ...skip,
      'the frame has exactly the bytes that it is said to have':
        'it leaves room for the labels of Gemini, which lines of Claude do not have',
    },
  });
});
