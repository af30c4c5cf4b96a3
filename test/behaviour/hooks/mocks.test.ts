import { request } from 'node:http';
import { Agent, getGlobalDispatcher, MockAgent, setGlobalDispatcher } from 'undici';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { bypassesOf, collectWarnings } from '../../support/escaping.ts';
import { received } from '../../support/servers/http-exchange.ts';
import { chatUrl, sourceOf } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
const undo: (() => unknown)[] = [];

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

/** As test suites do it: nothing leaves but what is mocked. */
function mockByUndici(): MockAgent {
  const before = getGlobalDispatcher();
  const agent = new MockAgent();
  agent.disableNetConnect();
  const { origin, pathname } = new URL(chatUrl(stage));
  const reply = { choices: 'mocked answer to' };
  agent.get(origin).intercept({ path: pathname, method: 'POST' }).reply(200, reply).persist();
  setGlobalDispatcher(agent);
  undo.push(() => setGlobalDispatcher(before));
  return agent;
}

describe("undici's MockAgent as the global dispatcher", () => {
  // Once in a process, so this one comes first.
  it('is reported once, and wins where bypasses are errors, too', async () => {
    const { warnings, stop } = collectWarnings();
    undo.push(stop);
    mockByUndici();
    const scope = batchify(stage.options({ bypass: 'error' }));
    const sources = await scope.run(() => Promise.all([sourceOf(stage), sourceOf(stage)]));
    await scope.close();
    expect(sources).toEqual(['plain', 'plain']);
    expect(scope.stats).toMatchObject({ captured: 0, bypassed: 2 });
    await until(() => warnings.length > 0, 'the warning');
    expect(warnings).toEqual([expect.stringMatching(/MockAgent.*dispatcher of its own/)]);
  });

  it.each(['before', 'after'])('wins when it is set %s the scope is opened', async (when) => {
    if (when === 'before') mockByUndici();
    const scope = batchify(stage.options());
    if (when === 'after') mockByUndici();
    const bypasses = bypassesOf(scope);
    const text = await scope.run(async () =>
      (await fetch(chatUrl(stage), chatRequest('mocked'))).text(),
    );
    await scope.close();
    expect(text).toContain('mocked');
    expect(stage.simulator.requests).toEqual([]);
    expect(bypasses).toEqual([
      { url: chatUrl(stage), reason: expect.stringContaining('MockAgent'), sent: true },
    ]);
  });

  it('wins over scope.fetch', async () => {
    mockByUndici();
    const scope = batchify(stage.options({ hooks: false }));
    expect(await sourceOf(stage, 'mocked', scope.fetch)).toBe('plain');
    await scope.close();
    expect(stage.simulator.requests).toEqual([]);
  });

  it('that is given to a call wins as well', async () => {
    const agent = mockByUndici();
    await undo.pop()?.();
    const scope = batchify(stage.options());
    const init = { ...chatRequest('mocked'), dispatcher: agent } as unknown as RequestInit;
    const text = await scope.run(async () => (await fetch(chatUrl(stage), init)).text());
    await scope.close();
    expect(text).toContain('mocked');
  });

  it('does not keep a scope from batching that has a dispatcher of its own', async () => {
    mockByUndici();
    const scope = batchify(stage.options({ dispatcher: new Agent() }));
    expect(await scope.run(() => sourceOf(stage))).toBe('batch');
    await scope.close();
  });

  it('does not count when it is deactivated', async () => {
    mockByUndici().deactivate();
    expect(await batchify(() => sourceOf(stage), stage.options())).toBe('batch');
  });
});

/** What `@mswjs/interceptors` leaves in the process while it is active, before 0.44 and since. */
const registries: [version: string, activate: (names: string[]) => void][] = [
  [
    '0.41',
    (names) => {
      const globals = globalThis as Record<symbol, unknown>;
      for (const name of names) globals[Symbol.for(name)] = {};
      undo.push(() => names.forEach((name) => void delete globals[Symbol.for(name)]));
    },
  ],
  [
    '0.45',
    (names) => {
      const globals = globalThis as { __MSW_INTERCEPTORS_REGISTRY?: unknown };
      const registry = new Map<symbol, { readyState: string }>();
      registry.set(Symbol.for('http-request-interceptor'), { readyState: 'DISPOSED' });
      for (const name of names) registry.set(Symbol.for(name), { readyState: 'ACTIVE' });
      globals.__MSW_INTERCEPTORS_REGISTRY = registry;
      undo.push(() => void delete globals.__MSW_INTERCEPTORS_REGISTRY);
    },
  ],
];

describe.each(registries)('a tool on interceptors %s', (_version, activate) => {
  /** The wrapper that such a tool puts around fetch. */
  function mockFetch(): void {
    const below = globalThis.fetch;
    globalThis.fetch = async () => new Response('mocked answer to');
    undo.push(() => {
      globalThis.fetch = below;
    });
  }

  it('wins, although batchling has wrapped its fetch', async () => {
    activate(['fetch-interceptor']);
    mockFetch();
    const scope = batchify(stage.options());
    expect(await scope.run(() => sourceOf(stage))).toBe('plain');
    await scope.close();
    expect(scope.stats).toMatchObject({ captured: 0, bypassed: 1 });
    expect(stage.simulator.requests).toEqual([]);
  });

  it('on node:http gets its request untouched', async () => {
    activate(['client-request-interceptor']);
    const scope = batchify(stage.options());
    const bypasses = bypassesOf(scope);
    const { body, ...post } = chatRequest('mocked');
    const { headers } = await scope.run(() => received(request(chatUrl(stage), post).end(body)));
    await scope.close();
    expect(headers['x-batchling-source']).toBeUndefined();
    expect(bypasses).toHaveLength(1);
    expect(stage.simulator.meter).toMatchObject({ batched: 0, realtime: 1 });
  });

  it('that mocks something else does not count', async () => {
    activate(['websocket-interceptor', 'xhr-interceptor']);
    expect(await batchify(() => sourceOf(stage), stage.options())).toBe('batch');
  });
});

it('a test runner by itself is no mock', async () => {
  expect(process.env.VITEST).toBeDefined();
  expect(await batchify(() => sourceOf(stage), stage.options())).toBe('batch');
});
