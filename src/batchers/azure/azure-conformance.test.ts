import { APIError } from 'openai';
import type { Answer } from '../../base/types.ts';
import { batcherConformance } from '../conformance/conformance-suite.test-helper.ts';
import { earlyAzure, newerAzure, olderAzure } from './azure-subjects.test-helper.ts';

function sdkError({ status, headers, body }: Answer) {
  return APIError.generate(status, JSON.parse(body), undefined, new Headers(headers));
}

const skip = {
  'a call without a model is left alone': 'the deployment stands in the path',
};

batcherConformance({ ...newerAzure, sdkError });
batcherConformance({ ...olderAzure, sdkError, skip });
batcherConformance({ ...earlyAzure, sdkError, skip });
