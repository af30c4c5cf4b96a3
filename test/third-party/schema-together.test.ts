import { describe, expect, it } from 'vitest';
import { expectTogetherShape } from '../schemas/together-referee.ts';

const upload = { file: '{}', file_name: 'a.jsonl', purpose: 'batch-api', file_type: 'jsonl' };
const file = {
  id: 'file-1',
  object: 'file',
  bytes: 170,
  created_at: 1715021438,
  filename: 'a.jsonl',
  purpose: 'batch-api',
  FileType: 'jsonl',
  Processed: true,
};
const create = {
  endpoint: '/v1/chat/completions',
  input_file_id: 'file-1',
  completion_window: '24h',
};
const job = {
  id: '01234567-8901-2345-6789-012345678901',
  user_id: 'user_1',
  input_file_id: 'file-1',
  file_size_bytes: 170,
  status: 'IN_PROGRESS',
  job_deadline: '2026-11-17T05:30:00Z',
  created_at: '2026-11-16T05:30:00Z',
  endpoint: '/v1/chat/completions',
  progress: 33.3,
  model_id: 'meta-llama/Llama-3.3-70B-Instruct-Turbo',
};
const ended = {
  ...job,
  status: 'COMPLETED',
  progress: 100,
  completed_at: '2026-11-16T06:30:00Z',
  output_file_id: 'file-2',
  error_file_id: 'file-3',
};
const completion = {
  id: 'chat-1',
  object: 'chat.completion',
  created: 1715021438,
  model: 'm',
  choices: [
    {
      index: 0,
      finish_reason: 'stop',
      message: { role: 'assistant', content: 'hello' },
      logprobs: null,
    },
  ],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

describe('Together’s published schema', () => {
  it.each([
    ['POST /files/upload', upload],
    ['POST /files/upload 200', file],
    ['GET /files/file-1 200', { ...file, processing_status: 'COMPLETED' }],
    ['GET /files 200', { data: [file] }],
    ['DELETE /files/file-1 200', { id: 'file-1', deleted: true }],
    ['POST /batches', create],
    ['POST /batches', { ...create, model_id: 'm', priority: 1 }],
    ['POST /batches 201', { job, warning: 'The model is not discounted.' }],
    ['POST /batches 201', { warning: 'Nothing was created.' }],
    ['POST /batches 400', { error: 'No such file.' }],
    ['GET /batches/1 200', job],
    ['GET /batches/1 200', ended],
    ['GET /batches 200', [job, ended]],
    ['POST /batches/1/cancel 200', { ...job, status: 'CANCELLED' }],
    ['ChatCompletionResponse', completion],
  ])('knows %s', (operation, body) => {
    expectTogetherShape(operation, body);
  });

  const { file_name: _name, ...withoutName } = upload;
  const { Processed: _processed, ...withoutProcessed } = file;
  const { input_file_id: _file, ...withoutFile } = create;
  it.each([
    ['an upload without the name of its file', 'POST /files/upload', withoutName],
    ['OpenAI’s purpose', 'POST /files/upload', { ...upload, purpose: 'batch' }],
    ['OpenAI’s file', 'POST /files/upload 200', { ...withoutProcessed, status: 'processed' }],
    ['files without their list', 'GET /files 200', [file]],
    ['a create without a file', 'POST /batches', withoutFile],
    ['a create with metadata', 'POST /batches', { ...create, metadata: { batchling: 'token' } }],
    ['another endpoint', 'POST /batches', { ...create, endpoint: '/v1/embeddings' }],
    ['a bare job as the reply to a create', 'POST /batches 201', job],
    ['a create that is answered with 200', 'POST /batches 200', { job }],
    ['a wrapped job as the reply to a look', 'GET /batches/1 200', { job }],
    ['OpenAI’s word for a status', 'GET /batches/1 200', { ...job, status: 'in_progress' }],
    ['OpenAI’s times', 'GET /batches/1 200', { ...job, created_at: 1715021438 }],
    ['OpenAI’s counts', 'GET /batches/1 200', { ...job, request_counts: { total: 1 } }],
    ['a file id that is null', 'GET /batches/1 200', { ...job, output_file_id: null }],
    ['OpenAI’s page', 'GET /batches 200', { data: [job], has_more: false }],
    ['OpenAI’s error', 'POST /batches 400', { error: { message: 'No.', type: 'x' } }],
    ['an answer without choices', 'ChatCompletionResponse', { ...completion, choices: undefined }],
  ])('refuses %s', (_what, operation, body) => {
    expect(() => expectTogetherShape(operation, body)).toThrow();
  });
});
