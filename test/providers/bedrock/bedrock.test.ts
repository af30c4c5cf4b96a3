import { readdir, readFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { dirname, join } from 'node:path';
import { ConverseCommand, InvokeModelCommand } from '@aws-sdk/client-bedrock-runtime';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { hearStderr } from '../../support/heard.ts';
import { soon, until } from '../../support/until.ts';
import {
  type BedrockStage,
  converse,
  keys,
  keysOf,
  model,
  openBedrockStage,
  setUp,
} from './bedrock-stage.ts';

let stage: BedrockStage;

beforeAll(async () => {
  stage = await openBedrockStage();
});
beforeEach(() => stage.simulator.reset());
afterAll(() => stage.close());

const prompts = (many: number) => Array.from({ length: many }, (_, index) => `prompt ${index}.`);

function askAll(many: number, options?: BatchifyOptions): Promise<string[]> {
  const client = stage.client();
  return batchify(
    () => Promise.all(prompts(many).map((prompt) => converse(client, prompt))),
    stage.bedrockOptions(options),
  );
}

const realtimeCalls = () => stage.simulator.countRequests('POST', /^\/model\//);
const jobsMade = () => stage.simulator.batches().map(({ requests }) => requests);

describe('jobs of Bedrock', () => {
  it('take a hundred calls, and leave nothing in the bucket', async () => {
    const answers = await askAll(100);
    for (const [index, answer] of answers.entries()) expect(answer).toContain(`prompt ${index}.`);
    expect(jobsMade()).toEqual([100]);
    expect(realtimeCalls()).toBe(0);
    const deleted = stage.simulator.requests.filter(({ method }) => method === 'DELETE');
    expect(deleted.map(({ path }) => path.split('/').at(-1)).toSorted()).toEqual([
      'input.jsonl',
      'input.jsonl.out',
      'manifest.json.out',
    ]);
  });

  it('are filled so that none has fewer than a hundred', async () => {
    await askAll(230, { batchSize: 120 });
    expect(jobsMade().toSorted()).toEqual([110, 120]);
    expect(realtimeCalls()).toBe(0);
  });
});

describe('calls of two kinds behind canaries', () => {
  it.each(['call', 'batch'] as const)(
    'share a job, for which each is too few (%s)',
    async (canary) => {
      const client = stage.client();
      const options = stage.bedrockOptions({ canary, maxWindow: '1h' });
      await batchify(
        () =>
          Promise.all(
            prompts(120).map((text, at) => {
              const messages = [{ role: 'user' as const, content: [{ text }] }];
              const inferenceConfig = { temperature: 0 };
              return client.send(
                new ConverseCommand({
                  modelId: model,
                  messages,
                  ...(at % 2 === 1 && { inferenceConfig }),
                }),
              );
            }),
          ),
        options,
      );
      expect(jobsMade()).toEqual([118]);
      expect(realtimeCalls()).toBe(2);
    },
  );
});

describe('a create whose answer is lost', () => {
  it('is found by its token: there is one job, and one create', async () => {
    const path = '/model-invocation-job';
    const action = { kind: 'lost' } as const;
    stage.simulator.faults.add({ method: 'POST', path, times: 1, action });
    expect(await askAll(100)).toHaveLength(100);
    expect(jobsMade()).toEqual([100]);
    expect(stage.simulator.countRequests('POST', path)).toBe(1);
    expect(stage.simulator.meter.total).toBe(100);
  });
});

describe('fewer than a hundred calls', () => {
  it('wait for others up to maxWindow', async () => {
    const client = stage.client();
    await batchify(
      async () => {
        const first = prompts(60).map((prompt) => converse(client, prompt));
        // Many windows later.
        await new Promise((resolve) => setTimeout(resolve, 150));
        const second = prompts(40).map((prompt) => converse(client, `more ${prompt}`));
        await Promise.all([...first, ...second]);
      },
      stage.bedrockOptions({ window: '10ms', maxWindow: '1h', batchSize: 100 }),
    );
    expect(jobsMade()).toEqual([100]);
  });

  it('go out one by one after that, signed by us, and it is said', async () => {
    const heard = hearStderr();
    const client = stage.client({ credentials: keysOf('AKIDOTHER') });
    const scope = batchify(stage.bedrockOptions({ maxWindow: '40ms', display: 'plain' }));
    const answers = await scope.run(() =>
      Promise.all(prompts(3).map((prompt) => converse(client, prompt))),
    );
    await scope.close();
    expect(answers).toHaveLength(3);
    expect(jobsMade()).toEqual([]);
    expect(realtimeCalls()).toBe(3);
    expect(scope.stats).toMatchObject({ answered: 3, realtime: 3 });
    expect(heard.lines().join(' ')).toMatch(
      /3 requests are fewer than the 100 that a batch needs.*full price/,
    );
  });

  it('may be a batch where the account allows it', async () => {
    stage.simulator.configure({ limits: { bedrock: { leastRequestsPerBatch: 1 } } });
    const bedrock = { limits: { leastRequests: 1 } };
    expect(await askAll(2, { providers: { bedrock } })).toHaveLength(2);
    expect(jobsMade()).toEqual([2]);
    stage.simulator.configure({ limits: { bedrock: { leastRequestsPerBatch: 100 } } });
  });

  it('go out one by one at their deadline, long after their clients have signed them', async () => {
    const sent = await askAll(2, {
      window: '1h',
      maxWindow: '1h',
      deadline: '50ms',
      onDeadline: 'realtime',
    });
    expect(sent).toHaveLength(2);
    expect(realtimeCalls()).toBe(2);
  });

  it('go out one by one at their deadline from a job that is under way, signed anew, and wait for no others', async () => {
    stage.simulator.configure({ limits: { bedrock: { leastRequestsPerBatch: 1 } } });
    stage.simulator.hold();
    const scope = batchify(
      stage.bedrockOptions({
        providers: { bedrock: { limits: { leastRequests: 3 } } },
        batchSize: 3,
        window: '1h',
        maxWindow: '1h',
        deadline: '1500ms',
        onDeadline: 'realtime',
      }),
    );
    const gone = new AbortController();
    const client = stage.client();
    const asked = scope.run(() => [
      converse(client, 'never mind', gone.signal),
      ...prompts(2).map((prompt) => converse(client, prompt)),
    ]);
    const outcomes = Promise.allSettled(asked);
    await until(() => scope.stats.batches.submitted === 1, 'the job');
    gone.abort();
    const [first, ...others] = await soon(outcomes);
    expect(first?.status).toBe('rejected');
    for (const { status } of others) expect(status).toBe('fulfilled');
    await scope.close();
    expect(jobsMade()).toEqual([3]);
    expect(realtimeCalls()).toBe(2);
    stage.simulator.release();
    stage.simulator.configure({ limits: { bedrock: { leastRequestsPerBatch: 100 } } });
  });
});

describe('keys', () => {
  it('come from the usual variables, and neither they nor their signatures are kept', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDVARIABLE');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret-of-AKIDVARIABLE');
    const store = stage.newStore();
    const client = stage.client({ credentials: keysOf('AKIDVARIABLE') });
    await batchify(
      () => Promise.all(prompts(100).map((prompt) => converse(client, prompt))),
      stage.options({ store, hosts: { [stage.base]: 'bedrock' }, providers: { bedrock: setUp } }),
    );
    vi.unstubAllEnvs();
    expect(jobsMade()).toEqual([100]);
    const entries = await readdir(dirname(store), { withFileTypes: true });
    const files = await Promise.all(
      entries
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => readFile(join(parentPath, name))),
    );
    for (const file of files) {
      expect(file.includes('secret-of-AKIDVARIABLE')).toBe(false);
      expect(file.includes('Signature=')).toBe(false);
      expect(file.includes('AKIDVARIABLE')).toBe(false);
    }
  });

  it('that are nowhere to be found are a clear error, and nothing is sent', async () => {
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) vi.stubEnv(name, '');
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
    const client = stage.client();
    const options = stage.options({
      hosts: { [stage.base]: 'bedrock' },
      providers: { bedrock: setUp },
    });
    const error = await batchify(
      () => Promise.all(prompts(100).map((prompt) => converse(client, prompt))),
      options,
    ).catch((caught: unknown) => caught);
    vi.unstubAllEnvs();
    expect(String(error)).toMatch(/found no keys: set AWS_ACCESS_KEY_ID/);
    expect(jobsMade()).toEqual([]);
  });

  it('that are nowhere to be found are the same error at once in the realtime lane', async () => {
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) vi.stubEnv(name, '');
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
    const client = stage.client({ maxAttempts: 1 });
    const options = stage.options({ hosts: { [stage.base]: 'bedrock' }, lane: 'realtime' });
    const error = await batchify(() => converse(client, 'who?'), options).catch(
      (caught: unknown) => caught,
    );
    vi.unstubAllEnvs();
    expect(String(error)).toMatch(/found no keys: set AWS_ACCESS_KEY_ID/);
    expect(realtimeCalls()).toBe(0);
  });
});

describe('a call that cannot be in a job', () => {
  it('of Converse with tools goes out as an ordinary call, and its reason is told', async () => {
    const reasons: string[] = [];
    const scope = batchify(stage.bedrockOptions({ bypass: 'error' }));
    scope.on('call:bypassed', ({ reason }) => void reasons.push(reason));
    const spec = { name: 'look', inputSchema: { json: { type: 'object' } } };
    const command = new ConverseCommand({
      modelId: model,
      messages: [{ role: 'user', content: [{ text: 'tools' }] }],
      toolConfig: { tools: [{ toolSpec: spec }] },
    });
    const error = await scope.run(() =>
      stage
        .client()
        .send(command)
        .catch((caught) => caught),
    );
    await scope.close();
    expect(reasons.join()).toContain('toolConfig');
    expect(error).toMatchObject({ name: 'ValidationException' });
  });

  it('of Converse with tools and a tier is one of the realtime lane, which makes no jobs', async () => {
    const scope = batchify(stage.bedrockOptions({ bypass: 'error', lane: 'realtime' }));
    const spec = { name: 'look', inputSchema: { json: { type: 'object' } } };
    const command = new ConverseCommand({
      modelId: model,
      messages: [{ role: 'user', content: [{ text: 'tools' }] }],
      toolConfig: { tools: [{ toolSpec: spec }] },
      serviceTier: { type: 'priority' },
    });
    const { stopReason } = await scope.run(() => stage.client().send(command));
    await scope.close();
    expect(stopReason).toBe('tool_use');
    expect(scope.stats).toMatchObject({ captured: 1, realtime: 1, bypassed: 0 });
  });

  it('because it has a guardrail is held back where bypasses are errors, and its reason is told', async () => {
    const command = new InvokeModelCommand({
      modelId: model,
      guardrailIdentifier: 'house-rules',
      guardrailVersion: '1',
      body: JSON.stringify({ messages: [{ role: 'user', content: [{ text: 'hello' }] }] }),
    });
    const reasons: string[] = [];
    const scope = batchify(stage.bedrockOptions({ bypass: 'error', maxWindow: '50ms' }));
    scope.on('call:bypassed', ({ reason }) => void reasons.push(reason));
    const asked = scope.run(() => stage.client().send(command));
    await expect(asked).rejects.toMatchObject({ name: 'ValidationException' });
    await scope.close();
    expect(reasons).toEqual([expect.stringContaining('guardrail')]);
  });

  it('without a bucket and a role says what to set', async () => {
    const error = await batchify(
      () => converse(stage.client(), 'where?').catch((caught: unknown) => caught),
      stage.options({ hosts: { [stage.base]: 'bedrock' } }),
    );
    expect(String(error)).toMatch(/providers: \{ bedrock: \{ bucket.*roleArn/);
  });

  it('without them says so in the flex lane, too, and nothing goes out at full price', async () => {
    const scope = batchify(
      stage.options({ hosts: { [stage.base]: 'bedrock' }, lane: 'flex', maxWindow: '40ms' }),
    );
    const error = await scope.run(() =>
      converse(stage.client(), 'where?').catch((caught: unknown) => caught),
    );
    await scope.close();
    expect(String(error)).toMatch(/providers: \{ bedrock: \{ bucket.*roleArn/);
    expect(realtimeCalls()).toBe(0);
  });
});

describe('a refusal of the whole batch', () => {
  const inXml = (code: string, message: string) =>
    `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`;

  it.each([
    [403, 'AccessDenied', 'AccessDeniedException'],
    [404, 'NoSuchBucket', 'ResourceNotFoundException'],
    [301, 'PermanentRedirect', 'ValidationException'],
  ])(
    'of S3, with status %i %s, is a %s for the AWS SDK, which asks once',
    async (status, code, name) => {
      const headers = { 'content-type': 'application/xml' };
      const action = { kind: 'status', status, headers, body: inXml(code, 'No way.') } as const;
      stage.simulator.faults.add({ method: 'PUT', path: /input\.jsonl$/, action });
      const error = await askAll(100).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ name, $fault: 'client', $metadata: { attempts: 1 } });
      expect(String(error)).toMatch(`S3 refused a file of the batch (${code}: No way.)`);
      expect(String(error)).toContain('providers.bedrock.bucket');
      expect(stage.simulator.countRequests('PUT', /input\.jsonl$/)).toBe(1);
      expect(jobsMade()).toEqual([]);
    },
  );

  it('of Bedrock is one as well, whatever was asked of it', async () => {
    const headers = { 'x-amzn-errortype': 'AccessDeniedException' };
    const body = { message: 'Cross-account pass role is not allowed' };
    const action = { kind: 'status', status: 403, headers, body } as const;
    stage.simulator.faults.add({ method: 'POST', path: '/model-invocation-job', action });
    await expect(askAll(100)).rejects.toMatchObject({
      name: 'AccessDeniedException',
      message: 'Cross-account pass role is not allowed',
      $metadata: { attempts: 1 },
    });
  });
});

describe('an S3 server of its own', () => {
  it('gets the files, signed for it, and Bedrock gets the rest', async () => {
    const seen: { method: string; url: string; headers: IncomingHttpHeaders }[] = [];
    const server = createServer((request, response) => {
      seen.push({
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
      });
      // The simulator is the server behind it; it only reads objects that it has itself.
      request.resume().on('end', () => response.writeHead(503).end());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const s3Endpoint = `http://127.0.0.1:${port}/s3`;
    const scope = batchify(
      stage.bedrockOptions({ providers: { bedrock: { s3Endpoint } }, attempts: 1 }),
    );
    const asked = scope.run(() =>
      Promise.all(prompts(100).map((prompt) => converse(stage.client(), prompt))),
    );
    asked.catch(() => undefined);
    await until(() => seen.length > 0);
    await scope.cancel();
    await scope.close();
    await asked.catch(() => undefined);
    server.closeAllConnections();
    server.close();
    expect(seen[0]).toMatchObject({
      method: 'PUT',
      url: expect.stringMatching(/^\/s3\/mine\/llm\/batchling\/bl_[0-9a-f]+\/input\.jsonl$/),
    });
    expect(seen[0]?.headers.authorization).toContain(`Credential=${keys.accessKeyId}/`);
    expect(JSON.stringify(seen)).not.toContain(keys.secretAccessKey);
  });
});
