import { ApiError } from '@google/genai';
import { describe } from 'vitest';
import { batcherConformance } from '../conformance/conformance-suite.test-helper.ts';
import type { BatcherSubject } from '../conformance/subject.test-helper.ts';
import { GoogleBatcher } from './google-batcher.ts';

/** As if no batch were small. */
class FileOnlyBatcher extends GoogleBatcher {
  protected override isInline(): boolean {
    return false;
  }
}

const subject = {
  path: '/models/gemini-test:generateContent',
  model: 'gemini-test',
  body: (prompt) => ({ contents: [{ role: 'user', parts: [{ text: prompt }] }] }),
  sdkError: ({ status, body }) => new ApiError({ status, message: body }),
} satisfies Partial<BatcherSubject>;

const create = '/v1beta/models/gemini-test:batchGenerateContent';
const list = '/v1beta/batches';

const skip = {
  'a call without a model is left alone': 'the model is part of the path',
  'that is an empty object does not prove that a batch is absent': '{} is its empty list',
};

describe('in their create', () => {
  batcherConformance({
    ...subject,
    batcher: new GoogleBatcher(),
    requests: { create, list, results: /^\/v1beta\/batches\/[^/]+$/ },
    skip: {
      ...skip,
      'the frame has exactly the bytes that it is said to have':
        'it is that of a file; an inline create writes its items in another form',
      'that are not there yet are an error that says so': 'inline results are in the batch itself',
    },
  });
});

describe('as a file', () => {
  batcherConformance({
    ...subject,
    batcher: new FileOnlyBatcher(),
    requests: { create, list, results: /:download$/, upload: '/upload/v1beta/files' },
    skip,
  });
});
