import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../../src/simulator/index.ts';

/**
 * sference has no client for Node. What its Python client does is done here by hand, and what comes back is
 * held against the fields and types that client demands.
 */
let simulator: Simulator;

beforeAll(async () => {
  const speed = { validating: 5, running: 10, finalizing: 0, cancelling: 5 };
  simulator = await startSimulator({ speed });
});
beforeEach(() => simulator.reset());
afterAll(() => simulator.close());

const text = expect.any(String);
const number = expect.any(Number);
const dated = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+\+00:00$/);

function batchWith(status: string, completedAt: unknown = null) {
  return {
    id: text,
    status,
    window: '24h',
    request_count: number,
    created_at: dated,
    updated_at: dated,
    completed_at: completedAt,
    total_prompt_tokens: number,
    total_completion_tokens: number,
    total_tokens: number,
  };
}

async function request(method: string, path: string, body?: unknown, key = 'sk_one') {
  const response = await fetch(`${simulator.baseUrl('sference')}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const said = await response.text();
  const type = response.headers.get('content-type') ?? '';
  const isLines = type.startsWith('application/x-ndjson');
  const json = isLines
    ? said
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    : JSON.parse(said);
  return { status: response.status, type, json };
}

function requestsOf(prompts: readonly string[], model = 'org/model') {
  return prompts.map((content, index) => ({
    custom_id: `r-${index}`,
    body: { model, messages: [{ role: 'user', content }] },
  }));
}

const create = (prompts: readonly string[], more: object = {}) =>
  request('POST', '/batches', { window: '24h', requests: requestsOf(prompts), ...more });

async function untilOver(id: string) {
  await expect
    .poll(async () => (await request('GET', `/batches/${id}`)).json.status)
    .toMatch(/completed|failed|cancelled/);
  return (await request('GET', `/batches/${id}`)).json;
}

describe("sference's batches in the simulator", () => {
  it('go from a create to results in both forms', async () => {
    const created = await create(['one', 'two [[status 404]]']);
    expect(created.status).toBe(201);
    expect(created.json).toEqual(batchWith('pending'));
    const { id } = created.json;
    expect(await untilOver(id)).toEqual(batchWith('completed', dated));
    const lines = await request('GET', `/batches/${id}/results.jsonl`);
    expect(lines.type).toBe('application/x-ndjson');
    expect(lines.json.sort(byId)).toMatchObject([
      { custom_id: 'r-0', status: 'completed', error_json: null, result_json: { choices: [{}] } },
      {
        custom_id: 'r-1',
        status: 'failed',
        result_json: null,
        error_json: { detail: 'Not Found: simulated status 404' },
      },
    ]);
    const whole = await request('GET', `/batches/${id}/results`);
    expect(whole.json).toMatchObject({ batch_id: id, status: 'completed', output_url: null });
    expect(whole.json.results.sort(byId)).toEqual(lines.json);
  });

  it('are listed as a whole, for their own key', async () => {
    for (const prompt of ['a', 'b', 'c']) await create([prompt]);
    await request('POST', '/batches', { window: '24h', requests: requestsOf(['x']) }, 'sk_two');
    const { json } = await request('GET', '/batches');
    expect(Object.keys(json)).toEqual(['items']);
    expect(json.items).toHaveLength(3);
    expect((await request('GET', '/batches?limit=1')).status).toBe(400);
  });

  it('are cancelled', async () => {
    simulator.hold();
    const { json } = await create(['a', 'b']);
    const cancelled = await request('POST', `/batches/${json.id}/cancel`);
    expect(cancelled.json).toEqual(batchWith('running'));
    expect(await untilOver(json.id)).toEqual(batchWith('cancelled', dated));
    const { json: rows } = await request('GET', `/batches/${json.id}/results.jsonl`);
    expect(rows.map(({ status }: { status: string }) => status)).toEqual([
      'cancelled',
      'cancelled',
    ]);
    expect((await request('POST', `/batches/${json.id}/cancel`)).status).toBe(409);
  });

  it.each([
    ['another window', { window: '1h' }, 'window'],
    ['no request', { requests: [] }, 'at least one'],
    ['an unknown field', { endpoint: '/v1/chat/completions' }, 'endpoint'],
    [
      'a request with a url',
      { requests: [{ ...requestsOf(['a'])[0], url: '/v1/chat/completions' }] },
      'requests[0]: unknown field url',
    ],
    [
      'two models',
      { requests: [...requestsOf(['a']), ...requestsOf(['b'], 'org/other')] },
      'same model',
    ],
    [
      'an empty list of messages',
      {
        requests: [...requestsOf(['a']), { custom_id: 'r-9', body: { model: 'm', messages: [] } }],
      },
      'requests[1] (custom_id=r-9): body.messages must be a non-empty list',
    ],
  ])('are refused with %s', async (_what, more, detail) => {
    const { status, json } = await create(['a'], more);
    expect(status).toBe(400);
    expect(json).toEqual({
      status_code: 400,
      detail: expect.stringContaining(detail),
      extra: null,
    });
    expect(simulator.batches()).toEqual([]);
  });

  it('have no files', async () => {
    expect((await request('POST', '/files', {})).status).toBe(404);
  });
});

function byId(a: { custom_id: string }, b: { custom_id: string }): number {
  return a.custom_id < b.custom_id ? -1 : 1;
}
