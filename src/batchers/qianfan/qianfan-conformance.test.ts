import { APIError } from 'openai';
import { expect, it } from 'vitest';
import { batcherConformance } from '../conformance/conformance-suite.test-helper.ts';
import {
  type BatcherSubject,
  failureOf,
  openBench,
  planOf,
} from '../conformance/subject.test-helper.ts';
import { QianfanBatcher } from './qianfan-batcher.ts';

const subject: BatcherSubject = {
  batcher: new QianfanBatcher(),
  path: '/chat/completions',
  body: (prompt) => ({ model: 'test-model', messages: [{ role: 'user', content: prompt }] }),
  requests: { create: '/v2/batches', upload: '/v2/files', results: /\/content$/ },
};

batcherConformance({
  ...subject,
  sdkError: ({ status, headers, body }) =>
    APIError.generate(status, JSON.parse(body), undefined, new Headers(headers)),
});

it('a task too many is waited for, whatever status refuses it', async () => {
  const { batcher, wire, strike } = await openBench(subject);
  const plan = planOf(subject, ['one']);
  const handle = await batcher.stage(wire, plan);
  const body = { error: { code: 'TaskRunningNumberExceedLimit', message: 'Too many tasks.' } };
  strike('create', { kind: 'status', status: 400, body });
  const error = await failureOf(batcher.create(wire, plan, handle));
  expect(error).toMatchObject({ failure: { meaning: 'full', next: 'later' } });
});
