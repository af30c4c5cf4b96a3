import { SDKError } from '@mistralai/mistralai/models/errors';
import { describe } from 'vitest';
import type { Answer } from '../../base/types.ts';
import { batcherConformance } from '../conformance/conformance-suite.test-helper.ts';
import { MistralBatcher } from './mistral-batcher.ts';

const noLine = 'what the job did not get to has no line; its status says why';

/** Large batches, without their size. */
class FilesOnly extends MistralBatcher {
  protected override goesInline(): boolean {
    return false;
  }
}

const subject = {
  path: '/chat/completions',
  body: (prompt: string) => ({
    model: 'mistral-test',
    messages: [{ role: 'user', content: prompt }],
  }),
  requests: { create: '/v1/batch/jobs', upload: '/v1/files', results: /\/content$/ },
  sdkError(answer: Answer) {
    const { statusCode, message } = errorOf(answer);
    return { status: statusCode, message };
  },
  skip: {
    'a body travels byte for byte, on one line': 'the model moves to the job; see the unit test',
    'without an answer (expired) is no answer': noLine,
    'without an answer (canceled) is no answer': noLine,
  },
};

describe('in the create call:', () => {
  batcherConformance({ batcher: new MistralBatcher(), ...subject });
});

describe('in a file:', () => {
  batcherConformance({ batcher: new FilesOnly(), ...subject });
});

function errorOf({ status, headers, body }: Answer): SDKError {
  const response = new Response(body, { status, headers });
  const request = new Request('https://api.mistral.ai/v1/chat/completions');
  return new SDKError('API error occurred', { response, request, body });
}
