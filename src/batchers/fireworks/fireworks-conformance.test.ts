import { APIError } from 'openai';
import { batcherConformance } from '../conformance/conformance-suite.test-helper.ts';
import { FireworksBatcher } from './fireworks-batcher.ts';

const what = ['a page for people', 'an empty object', 'an empty list', 'null'];
const more = ['an error with status 200', 'nothing', 'half of a reply'];
const byId = 'a job is asked for by its id: see fireworks-batcher.test.ts';

batcherConformance({
  batcher: new FireworksBatcher(),
  path: '/chat/completions',
  body: (prompt) => ({
    model: 'accounts/fireworks/models/test-model',
    messages: [{ role: 'user', content: prompt }],
  }),
  requests: {
    create: '/v1/accounts/simulator/batchInferenceJobs',
    upload: '/v1/accounts/simulator/datasets',
    results: /^\/downloads\//,
  },
  sdkError: ({ status, headers, body }) =>
    APIError.generate(status, JSON.parse(body), undefined, new Headers(headers)),
  skip: {
    ...Object.fromEntries(
      [...what, ...more].map((one) => [
        `that is ${one} does not prove that a batch is absent`,
        byId,
      ]),
    ),
    'a body travels byte for byte, on one line': 'the model moves to the job: see there, too',
    'without an answer (expired) is no answer': 'such a request has no line',
    'without an answer (canceled) is no answer': 'such a request has no line',
    'that is missing hides no other': 'results without any line are not believed: see there, too',
  },
});
