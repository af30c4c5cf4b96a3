import { createServer, type IncomingMessage } from 'node:http';
import { ConverseCommand } from '@aws-sdk/client-bedrock-runtime';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { until } from '../../support/until.ts';
import {
  type BedrockStage,
  converse,
  keys,
  model,
  openBedrockStage,
  setUp,
} from './bedrock-stage.ts';

const region = 'eu-west-1';
const jobArn = `arn:aws:bedrock:${region}:123456789012:model-invocation-job/abcdefghijkl`;
const chatUsage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

let stage: BedrockStage;

beforeAll(async () => {
  stage = await openBedrockStage();
});
afterEach(() => vi.unstubAllEnvs());
afterAll(() => stage.close());

/** A server whose name says no region. It keeps whom requests were signed for. */
async function startAws(hasJobs = true) {
  const seen: { readonly asked: string; readonly signedFor: string }[] = [];
  /** What each request brought of a header that a proxy may want. */
  const tokens: unknown[] = [];
  const server = createServer((request, response) => {
    const { method, url = '', headers } = request;
    const [, signedFor = ''] = /\/\d{8}\/([^/]+\/[^/]+)\//.exec(headers.authorization ?? '') ?? [];
    tokens.push(headers['x-proxy-token']);
    seen.push({ asked: `${method} ${url.replace(/bl_\w+/, '<batch>')}`, signedFor });
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json');
      if (!hasJobs && !url.startsWith('/model/')) response.statusCode = 404;
      response.end(JSON.stringify(replyTo(request)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    base: `http://127.0.0.1:${port}`,
    seen,
    tokens,
    close: () => void server.close().closeAllConnections(),
  };
}

function replyTo({ method, url = '' }: IncomingMessage): object {
  if (/\/model\//.test(url)) {
    const message = { role: 'assistant', content: [{ text: 'hi' }] };
    return { output: { message }, stopReason: 'end_turn', usage: chatUsage };
  }
  return method === 'PUT' ? {} : { jobArn, status: 'InProgress' };
}

describe('the region of the settings, where the host of the calls names none', () => {
  const ask = async (base: string, given: BatchifyOptions) => {
    // What the variable says is somewhere else.
    vi.stubEnv('AWS_REGION', 'us-east-2');
    const bedrock = { ...setUp, region, credential: () => keys, limits: { leastRequests: 2 } };
    const hosts = { [base]: 'bedrock' } as const;
    const scope = batchify(stage.options({ hosts, providers: { bedrock }, ...given }));
    const client = stage.client({ region, endpoint: base });
    return { scope, client };
  };

  it('is what all requests of a job are signed for', async () => {
    const aws = await startAws();
    const { scope, client } = await ask(aws.base, {});
    const asked = scope.run(() => Promise.all(['a', 'b'].map((text) => converse(client, text))));
    asked.catch(() => undefined);
    await until(() => aws.seen.some(({ asked: what }) => what.startsWith('GET')));
    await scope.cancel();
    await scope.close();
    await asked.catch(() => undefined);
    aws.close();
    const kinds = new Set(aws.seen.map(({ asked: what, signedFor }) => `${what} ${signedFor}`));
    expect([...kinds]).toEqual([
      `PUT /mine/llm/batchling/<batch>/input.jsonl ${region}/s3`,
      `POST /model-invocation-job ${region}/bedrock`,
      `GET /model-invocation-job/abcdefghijkl ${region}/bedrock`,
      `POST /model-invocation-job/abcdefghijkl/stop ${region}/bedrock`,
    ]);
  });

  it('is what a call is signed for that goes out alone', async () => {
    const aws = await startAws();
    const { scope, client } = await ask(aws.base, { maxWindow: '40ms' });
    await scope.run(() =>
      client.send(
        new ConverseCommand({
          modelId: model,
          messages: [{ role: 'user', content: [{ text: 'a' }] }],
        }),
      ),
    );
    await scope.close();
    aws.close();
    const path = `POST /model/${encodeURIComponent(model)}/converse`;
    expect(aws.seen).toEqual([{ asked: path, signedFor: `${region}/bedrock` }]);
  });
});

it('what a proxy wants to see comes with every request to it, and with none to another server', async () => {
  const [aws, storage] = await Promise.all([startAws(), startAws()]);
  const limits = { leastRequests: 2 };
  const bedrock = { ...setUp, s3Endpoint: storage.base, credential: () => keys, limits };
  const hosts = { [aws.base]: 'bedrock' } as const;
  const scope = batchify(stage.options({ hosts, providers: { bedrock }, maxWindow: '200ms' }));
  const ask = async (text: string, id = model) => {
    const response = await fetch(`${aws.base}/model/${id}/converse`, {
      method: 'POST',
      headers: {
        authorization: `AWS4-HMAC-SHA256 Credential=${keys.accessKeyId}/20260102/${region}/bedrock/aws4_request`,
        'x-proxy-token': 'let-me-in',
      },
      body: JSON.stringify({ messages: [{ role: 'user', content: [{ text }] }] }),
    });
    return response.status;
  };
  const asked = scope.run(() => Promise.all([ask('a'), ask('b'), ask('alone', 'other-model')]));
  asked.catch(() => undefined);
  await until(() => aws.seen.some(({ asked: what }) => what.startsWith('GET')));
  await until(() => aws.seen.some(({ asked: what }) => what.endsWith('other-model/converse')));
  await scope.cancel();
  await scope.close();
  await asked.catch(() => undefined);
  for (const server of [aws, storage]) server.close();
  expect(aws.tokens.every((token) => token === 'let-me-in')).toBe(true);
  expect(storage.tokens).toEqual([undefined]);
});

it('a server of the user that has no jobs is asked call by call, as any other without batches', async () => {
  const aws = await startAws(false);
  const bedrock = { ...setUp, credential: () => keys, limits: { leastRequests: 2 } };
  const hosts = { [aws.base]: 'bedrock' } as const;
  const scope = batchify(stage.options({ hosts, providers: { bedrock } }));
  const client = stage.client({ region, endpoint: aws.base });
  const answers = await scope.run(() =>
    Promise.all(['a', 'b'].map((text) => converse(client, text))),
  );
  await scope.close();
  aws.close();
  expect(answers).toEqual(['hi', 'hi']);
  expect(scope.stats).toMatchObject({ answered: 2, realtime: 2 });
  expect(aws.seen.filter(({ asked }) => asked.startsWith('PUT'))).toHaveLength(1);
});
