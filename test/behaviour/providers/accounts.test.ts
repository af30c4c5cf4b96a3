import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { ask, askClaude } from '../../support/ask.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());
afterEach(() => vi.unstubAllEnvs());

/** Asks `each` twice, mixed, and tells which prompts shared a batch. */
async function groupsOf(callers: Record<string, (prompt: string) => Promise<string>>) {
  const names = Object.keys(callers);
  const answers = await batchify(
    () => Promise.all([...names, ...names].map((name) => callers[name]?.(name))),
    stage.options(),
  );
  expect(answers).toHaveLength(2 * names.length);
  names.forEach((name, index) => {
    expect(answers[index]).toContain(`answer to "${name}"`);
  });
  const groups = new Map<string | null, string[]>();
  for (const { batchId, body } of stage.simulator.meter.executions) {
    const { messages } = body as { messages: { content: string }[] };
    const prompts = groups.get(batchId) ?? [];
    groups.set(batchId, [...prompts, messages[0]?.content ?? '']);
  }
  return [...groups.values()].map((prompts) => prompts.sort().join()).sort();
}

it('two keys never share a batch, and each batch is sent under its own key', async () => {
  const one = stage.openai({ apiKey: 'sk-one' });
  const two = stage.openai({ apiKey: 'sk-two' });
  const groups = await groupsOf({ one: (prompt) => ask(one, prompt), two: (p) => ask(two, p) });
  expect(groups).toEqual(['one,one', 'two,two']);
  const keys = new Set(stage.simulator.meter.executions.map(({ key }) => key));
  expect(keys.size).toBe(2);
});

it('two keys of Anthropic never share a batch', async () => {
  const one = stage.anthropic({ apiKey: 'sk-ant-one' });
  const two = stage.anthropic({ apiKey: 'sk-ant-two' });
  const groups = await groupsOf({
    one: (prompt) => askClaude(one, prompt),
    two: (prompt) => askClaude(two, prompt),
  });
  expect(groups).toEqual(['one,one', 'two,two']);
});

it('organisations and projects of one key never share a batch', async () => {
  const clients = {
    plain: stage.openai(),
    organisation: stage.openai({ organization: 'org-a' }),
    other: stage.openai({ organization: 'org-b' }),
    project: stage.openai({ organization: 'org-a', project: 'proj-a' }),
  };
  const callers = Object.fromEntries(
    Object.entries(clients).map(([name, client]) => [name, (p: string) => ask(client, p)]),
  );
  expect(await groupsOf(callers)).toEqual([
    'organisation,organisation',
    'other,other',
    'plain,plain',
    'project,project',
  ]);
});

it('the same question of two projects of one key has two answers of two batches', async () => {
  const projects = ['proj-a', 'proj-b'];
  const answers = await batchify(
    () => Promise.all(projects.map((project) => ask(stage.openai({ project }), 'same'))),
    stage.options(),
  );
  const { executions } = stage.simulator.meter;
  expect(new Set(answers).size).toBe(2);
  expect(new Set(executions.map(({ key }) => key)).size).toBe(2);
  expect(new Set(executions.map(({ batchId }) => batchId)).size).toBe(2);
  const asking = stage.simulator.requests.filter(({ method }) => method === 'POST');
  const named = asking.map(({ headers }) => headers['openai-project']);
  expect(named.sort()).toEqual(['proj-a', 'proj-a', 'proj-b', 'proj-b']);
});

it('organisation and project go with every request about a batch', async () => {
  const client = stage.openai({ organization: 'org-a', project: 'proj-a' });
  await batchify(() => ask(client, 'whose'), stage.options());
  const { requests } = stage.simulator;
  expect(requests.map(({ method, path }) => `${method} ${path.split('/')[2]}`)).toEqual(
    expect.arrayContaining(['POST files', 'POST batches', 'GET batches', 'GET files']),
  );
  for (const { method, path, headers } of requests) {
    expect(headers, `${method} ${path}`).toMatchObject({
      'openai-organization': 'org-a',
      'openai-project': 'proj-a',
    });
  }
});

it('versions and betas of Anthropic never share a batch, but the order of betas means nothing', async () => {
  const client = (headers: Record<string, string>) => stage.anthropic({ defaultHeaders: headers });
  const clients = {
    plain: client({}),
    old: client({ 'anthropic-version': '2023-06-01' }),
    beta: client({ 'anthropic-beta': 'one-2025,two-2025' }),
    'beta turned': client({ 'anthropic-beta': 'two-2025, one-2025' }),
    'other beta': client({ 'anthropic-beta': 'one-2025' }),
  };
  const callers = Object.fromEntries(
    Object.entries(clients).map(([name, one]) => [name, (p: string) => askClaude(one, p)]),
  );
  expect(await groupsOf(callers)).toEqual([
    'beta,beta,beta turned,beta turned',
    'old,old',
    'other beta,other beta',
    'plain,plain',
  ]);
  const creates = stage.simulator.requests.filter(
    ({ method, path }) => method === 'POST' && path === '/v1/messages/batches',
  );
  const sent = creates.map(({ headers }) => [
    headers['anthropic-version'],
    headers['anthropic-beta'],
  ]);
  expect(sent.sort()).toEqual([
    ['2023-06-01', undefined],
    ['2026-10-21', undefined],
    ['2026-10-21', 'one-2025'],
    ['2026-10-21', 'one-2025,two-2025'],
  ]);
});

it('another key of a later run gets the stored answer: who asks does not change it', async () => {
  const options = stage.options();
  const launch = (run: string, apiKey: string) => {
    vi.stubEnv('BATCHLING_RUN', run);
    return batchify(() => ask(stage.openai({ apiKey }), 'shared'), options);
  };
  const first = await launch('first', 'sk-one');
  expect(await launch('second', 'sk-two')).toBe(first);
  expect(stage.simulator.meter.total).toBe(1);
});

it('a renewed token is used from then on, for what was asked with the old one, too', async () => {
  // Issuer and subject stay; the simulator knows tokens by what stands behind the @.
  const client = (name: string) => {
    const parts = ['{"alg":"none"}', '{"iss":"login","sub":"me"}'].map((part) => btoa(part));
    return stage.openai({ apiKey: `${parts.join('.')}.signature@${name}` });
  };
  const scope = batchify(stage.options({ window: '1h', maxWindow: '1h' }));
  const asked = ['old', 'new'].map((name) => scope.run(() => ask(client(name), name)));
  await scope.flush();
  await Promise.all(asked);
  await scope.close();
  await ask(client('new'), 'outside of the scope');
  const { executions } = stage.simulator.meter;
  expect(executions.map(({ batchId }) => batchId !== null)).toEqual([true, true, false]);
  expect(new Set(executions.map(({ key }) => key)).size).toBe(1);
});
