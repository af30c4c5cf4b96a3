import { describe, expect, it } from 'vitest';
import type { Wire, WireReply, WireRequest } from '../../http/wire.ts';
import { batchWire, readPage, readRow, resultsIn, toRemote } from './openrouter-wire.ts';

const redact = (told: string) => told.replaceAll('sk-secret', '…');
const rowOf = (rest: object) =>
  readRow(JSON.stringify({ custom_id: 'a', ...rest }), 'x-request-id');
const errorRow = (error: unknown) => rowOf({ response: null, error });

describe('a result', () => {
  it('is the answer, byte for byte, with its request id', () => {
    const element =
      '{"id":"b","custom_id":"a","response":{"status_code":200,"request_id":"r1","body":{"n":12345678901234567890}},"error":null}';
    expect(readRow(element, 'x-request-id')).toMatchObject({
      id: 'a',
      outcome: {
        kind: 'answer',
        answer: {
          status: 200,
          body: '{"n":12345678901234567890}',
          headers: { 'x-request-id': 'r1' },
        },
      },
    });
  });

  it.each([
    [{ type: 'invalid_request_error', message: 'Unable to download the file.' }, 400],
    [{ type: 'batch_client_error', message: 'Maximum four stop sequences allowed' }, 400],
    [{ error_type: 'context_length_exceeded', type: 'x', message: 'Too much' }, 400],
    [{ error_type: 'unmapped', type: 'not_found_error', message: 'x' }, 404],
    [{ code: 404, message: 'No endpoints found' }, 404],
    [{ code: '403', message: 'Moderated' }, 403],
    [{ type: 'authentication_error', message: 'no' }, 401],
    [{ message: 'The model is not supported' }, 400],
  ])('with the error %j is an answer with status %i', (error, status) => {
    const row = errorRow(error);
    expect(row).toMatchObject({ id: 'a', outcome: { kind: 'answer', answer: { status } } });
    expect(JSON.stringify(row)).toContain(error.message);
  });

  it.each([
    [{ type: 'overloaded_error', message: 'Overloaded' }, 'server'],
    [{ type: 'rate_limit_error', message: 'Slow down' }, 'rate-limit'],
    [{ message: 'The worker went away' }, 'server'],
    [{ error_type: 'provider_overloaded', type: 'error', message: 'invalid' }, 'server'],
    [{ code: 'batch_expired', message: 'Too late' }, 'expired'],
    [{ code: 'batch_cancelled', message: 'Stopped' }, 'cancelled'],
  ])('with the error %j is tried again (%s)', (error, reason) => {
    expect(errorRow(error)).toMatchObject({ id: 'a', outcome: { kind: 'retry', reason } });
  });

  it.each(['{}', '{"custom_id":""}', '"text"', '{"custom_id":7,"error":{"message":"x"}}'])(
    'without an id (%s) is broken',
    (element) => expect(readRow(element, '')).toHaveProperty('broken'),
  );
});

describe('a batch', () => {
  it('that is completed is no failure, although it sums up its errors', () => {
    const error = { message: 'All 1 request(s) in this batch failed upstream.' };
    const counts = { total: 1, completed: 0, failed: 1 };
    const batch = { id: 'b', status: 'completed', error, request_counts: counts };
    expect(toRemote(batch, { redact })).toEqual({
      id: 'b',
      state: 'ended',
      raw: 'completed',
      readable: true,
      sources: {},
      counts,
    });
  });

  it.each([
    ["Failed to lower batch request 'abc' to the provider wire: too long", 'smaller'],
    ['The provider ended this batch as "failed" without reporting a reason.', 'fail'],
    [undefined, 'fail'],
  ])('that failed with %s goes on with: %s', (message, next) => {
    const { failure } = toRemote({ id: 'b', status: 'failed', error: { message } }, { redact });
    expect(failure).toMatchObject({ meaning: 'refused', next, answer: { status: 400 } });
  });

  it('tells no key', () => {
    const error = { code: 'sk-secret', message: 'Wrong key: sk-secret' };
    const remote = toRemote({ id: 'b', status: 'failed', error }, { redact });
    expect(JSON.stringify(remote)).not.toContain('sk-secret');
  });
});

describe('a batch that expired', () => {
  const row = { custom_id: 'a', response: { status_code: 200, body: { n: 1 } }, error: null };
  const read = async (results: unknown) => {
    const reply = await replyOf(200, { id: 'b', status: 'expired', results }).send(
      undefined as never,
    );
    const rows = [];
    for await (const group of resultsIn(reply, '', true)) rows.push(...group);
    return rows;
  };

  it('is looked into where a list says so, and shows nothing or what has run', async () => {
    const listed = readPage({ data: [{ id: 'b', status: 'expired', results: null }] }).batches[0];
    const facts = { unfinished: 'expired', readable: true };
    expect(toRemote(listed, { redact })).toMatchObject(facts);
    expect(await read(null)).toEqual([]);
    expect(await read([row])).toMatchObject([{ id: 'a', outcome: { kind: 'answer' } }]);
  });

  it('is not read where it says itself that it shows nothing', () => {
    const batch = { id: 'b', status: 'expired', results: null };
    expect(toRemote(batch, { redact })).toMatchObject({ readable: false });
  });
});

describe.each([
  ['https://openrouter.ai/api/v1', 'https://openrouter.ai/api'],
  ['http://127.0.0.1:8/api/v1/', 'http://127.0.0.1:8/api'],
  ['https://proxy.example/llm', 'https://proxy.example/llm'],
])('the batches of %s', (base, root) => {
  it.each([
    [200, ['beta/batches']],
    [404, ['beta/batches', 'v1/batches']],
    [500, ['beta/batches']],
  ])('are at the first place, or where it answers %i at these: %j', async (status, places) => {
    const { send, sent } = replyOf(status, {});
    const wire = { base, send } as unknown as Wire;
    await batchWire(wire).send({ method: 'GET', path: '/batches' });
    expect(sent.map(({ path }) => path)).toEqual(places.map((place) => `${root}/${place}`));
  });
});

/** A wire that has the same answer for everything. */
function replyOf(status: number, body: object) {
  const sent: WireRequest[] = [];
  const reply = {
    status,
    async *bytes() {
      yield Buffer.from(JSON.stringify(body));
    },
    discard: async () => undefined,
  } as unknown as WireReply;
  const send = async (request: WireRequest) => {
    sent.push(request);
    return reply;
  };
  return { sent, send };
}
