import { describe, expect, it } from 'vitest';
import type { Wire, WireRequest } from '../../http/wire.ts';
import { type BatcherSubject, openBench, planOf } from '../conformance/subject.test-helper.ts';
import { BedrockBatcher } from './bedrock-batcher.ts';
import { bedrockInfo } from './bedrock-info.ts';
import { judgeStorage } from './bedrock-judge.ts';
import { readRow } from './bedrock-rows.ts';

const batcher = new BedrockBatcher();
const subject: BatcherSubject = {
  batcher,
  path: '/model/amazon.nova-test-v1%3A0/converse',
  model: 'amazon.nova-test-v1:0',
  body: (text) => ({ messages: [{ role: 'user', content: [{ text }] }] }),
  settings: {
    bucket: 's3://tests/folder',
    roleArn: 'arn:aws:iam::123456789012:role/batches',
    region: 'us-east-1',
  },
  simulatorSettings: { limits: { bedrock: { leastRequestsPerBatch: 1 } } },
  requests: { create: '/model-invocation-job', results: /input\.jsonl\.out$/ },
};

describe('the setting of the bucket', () => {
  it.each([
    ['mine', 's3://mine'],
    ['s3://my.bucket/a/b=c/..d/', 's3://my.bucket/a/b=c/..d'],
    ['s3://mine/../other', undefined],
    ['s3://mine/.', undefined],
    ['s3://Mine', undefined],
    ['s3://mine/a b', undefined],
    ['https://mine.s3.amazonaws.com', undefined],
  ])('%s is read as %s', (given, expected) => {
    expect(bedrockInfo.settings?.bucket.parse(given)).toBe(expected);
  });
});

describe('a refusal of S3', () => {
  it.each([
    ['AccessDenied', 'providers.bedrock.bucket'],
    ['ExpiredToken', 'AWS keys'],
    ['InvalidAccessKeyId', 'AWS keys'],
    ['RequestTimeTooSkewed', 'clock of this machine'],
  ])('with the code %s says what to look at: %s', (code, advice) => {
    const body = `<Error><Code>${code}</Code><Message>No.</Message></Error>`;
    const { answerWith } = judgeStorage({ status: 403, headers: {}, body, message: 'No.' });
    const told = answerWith?.('No.').body ?? '';
    expect(told).toContain(`(${code}: No.)`);
    expect(told).toContain(advice);
  });
});

describe('a row', () => {
  it.each([
    [{ error: { errorCode: 400, errorMessage: 'Bad.' } }, 400],
    [{ error: { errorCode: 403, message: 'Bad.' } }, 403],
    [{ errorCode: 400, errorMessage: 'Bad.' }, 400],
    [{ errorCode: 404, errorMessage: 'Bad.', modelOutput: null }, 404],
  ])('with the error %j is an answer with status %i and its words', (told, status) => {
    const row = readRow(JSON.stringify({ recordId: 'a', modelInput: {}, ...told }));
    expect(row).toMatchObject({ id: 'a', outcome: { kind: 'answer', answer: { status } } });
    expect(JSON.stringify(row)).toContain('Bad.');
  });

  it('whose answer has a member of that name is an answer', () => {
    const modelOutput = { errorMessage: 'a word' };
    const row = readRow(JSON.stringify({ recordId: 'a', modelOutput }));
    expect(row).toMatchObject({ outcome: { answer: { status: 200 } } });
  });
});

describe('a job that expired', () => {
  it('and tells no counts is looked into: what it has written is paid for', async () => {
    const { simulator, send, ended, rows } = await openBench(subject, { nullRequestCounts: true });
    simulator.faults.nextBatch({
      outcome: 'expired',
      completedFraction: 0.5,
      finalStatus: 'Expired',
    });
    const { plan, handle, remote } = await send(['a', 'b']);
    const last = await ended(remote, plan, handle);
    expect(last).toMatchObject({ raw: 'Expired', unfinished: 'expired' });
    expect(last).not.toHaveProperty('counts');
    expect(last.readable).toBe(true);
    expect(await rows(last)).toHaveLength(1);
  });
});

describe('a cleanup', () => {
  it('deletes nothing but what is in the folder of the batch, whatever is listed there', async () => {
    const folder = 'llm/batchling/bl_1/';
    const keys = ['input.jsonl', '../../other.csv', 'output/./../../x', '..', 'a..b', 'output/.x'];
    const listed = keys.map((key) => `<Key>${encodeURIComponent(`${folder}${key}`)}</Key>`);
    const deleted: string[] = [];
    const wire = {
      async send({ method, path }: WireRequest) {
        if (method === 'DELETE') deleted.push(new URL(path).pathname);
        return {
          status: 200,
          headers: {},
          text: async () => `<ListBucketResult>${listed.join('')}</ListBucketResult>`,
          discard: async () => undefined,
        };
      },
    } as unknown as Wire;
    const handle = {
      folder: `s3://mine/${folder}`,
      region: 'us-east-1',
      server: 'https://s3.test',
    };
    await batcher.cleanup(wire, handle);
    expect(deleted).toEqual(
      ['input.jsonl', 'a..b', 'output/.x'].map((key) => `/mine/${folder}${key}`),
    );
  });
});

describe('a create', () => {
  it('has each tag once, however they are written', async () => {
    const { wire } = await openBench(subject);
    const plan = { ...planOf(subject, ['a']), tags: { 'what?': 'a 🙂', 'what!': 'b', team: 'c' } };
    const handle = await batcher.stage(wire, plan);
    const bodies: unknown[] = [];
    const recorded: Wire = {
      ...wire,
      send(request) {
        bodies.push(JSON.parse(String(request.body)));
        return wire.send(request);
      },
    };
    await batcher.create(recorded, plan, handle);
    const tags = [
      { key: 'batchling-what_', value: 'b' },
      { key: 'batchling-team', value: 'c' },
    ];
    expect(bodies).toMatchObject([{ tags }]);
  });
});

describe('the origins of a base', () => {
  it.each([
    [
      'https://bedrock-runtime.us-east-1.amazonaws.com',
      ['https://bedrock.us-east-1.amazonaws.com', 'https://s3.us-east-1.amazonaws.com'],
    ],
    [
      'https://bedrock-runtime.cn-north-1.amazonaws.com.cn',
      ['https://bedrock.cn-north-1.amazonaws.com.cn', 'https://s3.cn-north-1.amazonaws.com.cn'],
    ],
    // Servers of the user's: all traffic stays at the base.
    ['https://bedrock-runtime.us-east-1.corp.example:8443', []],
    ['https://vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com', []],
    ['http://127.0.0.1:8000/aws', []],
  ])('of %s', (base, others) => {
    expect(batcher.origins(base)).toEqual([new URL(base).origin, ...others]);
  });
});
