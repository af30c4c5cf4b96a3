import Together from 'together-ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/core.ts';
import { type BatchScript, type Simulator, startSimulator } from '../../../src/simulator/index.ts';
import {
  expectTogetherShape,
  isUnpublished,
  togetherFaults,
} from '../../schemas/together-referee.ts';
import { fastClock } from '../../support/programs/parts/fast-clock.ts';
import {
  type Recorded,
  type RecordingProxy,
  startRecordingProxy,
} from '../../support/servers/recording-proxy.ts';
import { until } from '../../support/until.ts';

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

describe('the traffic of Together, by its published schema', () => {
  let simulator: Simulator;
  let proxy: RecordingProxy;
  let base: string;

  beforeAll(async () => {
    const speed = { validating: 2, running: 5, finalizing: 2, cancelling: 2 };
    simulator = await startSimulator({ speed });
  });
  beforeEach(async () => {
    simulator.reset();
    proxy = await startRecordingProxy(simulator.url);
    base = `${proxy.url}/together/v1`;
    return () => proxy.close();
  });
  afterAll(() => simulator.close());

  const messages = [{ role: 'user' as const, content: 'hello' }];

  /** Which operations were spoken: a judge of nothing finds no fault. */
  function spoken(exchanges: readonly Recorded[]): readonly string[] {
    const names = exchanges
      .filter((exchange) => !isUnpublished(exchange))
      .map(({ method, path, reply }) => {
        const [short = ''] = path.replace(/\/(file-|[0-9a-f]{8,})[^/?]*/, '/<id>').split('?');
        return `${method} ${short.replace('/together/v1', '')} ${reply?.status ?? 'lost'}`;
      });
    return [...new Set(names)].sort();
  }

  describe('of batchling', () => {
    /** Together is asked every 30 seconds at most, so time runs faster here. */
    function newScope() {
      const clock = fastClock({ epoch: Date.now(), speed: 600 });
      const hosts = { [base]: 'together' } as const;
      const scope = batchify({ store: ':memory:', hosts, clock, window: '1m', poll: '30s' });
      const given = { apiKey: 'key', baseURL: base, maxRetries: 0 };
      const client = new Together({ ...given, fetch: scope.fetch });
      const ask = (model: string) => client.chat.completions.create({ model, messages });
      return { scope, ask };
    }

    it('is right for whole lives of batches, for the list and for the deletion of files', async () => {
      const { scope, ask } = newScope();
      // A list pays from the third open batch on, so they stay open until one was asked for.
      simulator.hold();
      const asked = Promise.all(['one', 'two', 'three'].map(ask));
      await until(() => simulator.countRequests('GET', /\/batches$/) > 0, 'a list');
      simulator.release();
      await asked;
      await ask('alone');
      await scope.close();
      const deleted = () =>
        proxy.requests.filter(({ method, reply }) => method === 'DELETE' && reply);
      await until(() => deleted().length === 4, 'the deletion of the files');
      expect(await togetherFaults(proxy.requests)).toEqual([]);
      expect(spoken(proxy.requests)).toEqual([
        'DELETE /files/<id> 200',
        'GET /batches 200',
        'GET /batches/<id> 200',
        'GET /files/<id>/content 200',
        'POST /batches 201',
      ]);
    });

    const endings: BatchScript[] = [
      { outcome: 'failed', errors: [{ code: 'x', message: 'No such model.', line: 1 }] },
      { outcome: 'expired', completedFraction: 0.5 },
      { outcome: 'cancelled', completedFraction: 0.5 },
    ];
    it.each(endings)('is right for a batch that ends as $outcome', async (script) => {
      const { scope, ask } = newScope();
      simulator.faults.nextBatch(script);
      await Promise.allSettled([ask('one'), ask('one')]);
      await scope.close();
      expect(await togetherFaults(proxy.requests)).toEqual([]);
      expect(proxy.requests.map(({ reply }) => reply?.body ?? '')).toContainEqual(
        expect.stringContaining(`"status":"${script.outcome?.toUpperCase()}"`),
      );
    });

    it('is right for a create whose reply is lost, and for a batch that we cancel', async () => {
      const { scope, ask } = newScope();
      simulator.faults.add({ method: 'POST', path: '/v1/batches', action: { kind: 'lost' } });
      simulator.hold();
      const submitted = new Promise((resolve) => scope.on('batch:submitted', resolve));
      const asked = Promise.allSettled([ask('one')]);
      await submitted;
      await scope.cancel();
      simulator.release();
      await asked;
      await scope.close();
      expect(simulator.countRequests('POST', /\/batches$/)).toBe(1);
      expect(await togetherFaults(proxy.requests)).toEqual([]);
      expect(spoken(proxy.requests)).toContain('POST /batches/<id>/cancel 200');
    });

    it('is right for a create that is refused', async () => {
      const { scope, ask } = newScope();
      simulator.configure({ fileLag: 3_600_000 });
      await expect(ask('one')).rejects.toBeInstanceOf(Together.BadRequestError);
      await scope.close();
      expect(await togetherFaults(proxy.requests)).toEqual([]);
      expect(spoken(proxy.requests)).toContain('POST /batches 400');
    });
  });

  describe('of Together’s own SDK', () => {
    let client: Together;

    beforeEach(() => {
      client = new Together({ apiKey: 'key', baseURL: base, maxRetries: 0 });
    });

    /** By the form that is published; the SDK's own two steps are not. */
    async function upload(contents: readonly string[]): Promise<string> {
      const lines = contents.map((content, at) => {
        const body = { model: 'llama-test', messages: [{ role: 'user', content }] };
        return JSON.stringify({ custom_id: `r-${at}`, body });
      });
      const form = new FormData();
      form.set('purpose', 'batch-api');
      form.set('file_name', 'lines.jsonl');
      form.set('file_type', 'jsonl');
      form.set('file', new Blob([lines.join('\n')]), 'lines.jsonl');
      const headers = { authorization: 'Bearer key' };
      const response = await fetch(`${base}/files/upload`, { method: 'POST', headers, body: form });
      return ((await response.json()) as { id: string }).id;
    }

    async function create(contents: readonly string[]): Promise<Together.BatchJob> {
      const input_file_id = await upload(contents);
      const { job } = await client.batches.create({
        input_file_id,
        endpoint: '/v1/chat/completions',
        completion_window: '24h',
      });
      return job as Together.BatchJob;
    }

    async function read(id = ''): Promise<Together.BatchJob> {
      const isOpen = ({ status }: Together.BatchJob) => /VALIDATING|IN_PROGRESS/.test(status ?? '');
      let job = await client.batches.retrieve(id);
      while (isOpen(job)) job = await client.batches.retrieve(id);
      for (const file of [job.output_file_id, job.error_file_id]) {
        if (file !== undefined) await (await client.files.content(file)).text();
      }
      return job;
    }

    it('is right for lists, single files, results and refusals', async () => {
      await client.batches.list();
      const { id = '' } = await create(['fine', '[[status 400]]']);
      const job = await read(id);
      expect(job).toMatchObject({ status: 'COMPLETED', progress: 100 });
      await client.files.retrieve(job.input_file_id ?? '');
      await client.files.list();
      await client.batches.list();
      await client.files.delete(job.input_file_id ?? '');
      const endpoint = '/v1/chat/completions';
      const stranger = new Together({ apiKey: 'invalid-key', baseURL: base, maxRetries: 0 });
      await Promise.allSettled([
        client.batches.cancel(id),
        client.batches.retrieve('none'),
        client.batches.create({ input_file_id: 'none', endpoint }),
        stranger.batches.retrieve(id),
      ]);
      expect(await togetherFaults(proxy.requests)).toEqual([]);
      expect(spoken(proxy.requests)).toEqual([
        'DELETE /files/<id> 200',
        'GET /batches 200',
        'GET /batches/<id> 200',
        'GET /batches/<id> 401',
        'GET /batches/none 404',
        'GET /files 200',
        'GET /files/<id> 200',
        'GET /files/<id>/content 200',
        'POST /batches 201',
        'POST /batches 400',
        'POST /batches/<id>/cancel 400',
        'POST /files/upload 200',
      ]);
    });

    it('is right for a job that is cancelled', async () => {
      simulator.hold();
      const { id = '' } = await create(['one']);
      await client.batches.cancel(id);
      simulator.release();
      await read(id);
      expect(await togetherFaults(proxy.requests)).toEqual([]);
    });
  });
});
