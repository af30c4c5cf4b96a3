/** What we look at of undici's `MockAgent`; a `deactivate()`d one passes everything on. */
interface MaybeMockAgent {
  readonly disableNetConnect?: unknown;
  readonly isMockActive?: unknown;
}

/** What we look at of the registry of `@mswjs/interceptors` from version 0.44 on. */
interface Globals {
  readonly [key: symbol]: unknown;
  readonly __MSW_INTERCEPTORS_REGISTRY?: ReadonlyMap<symbol, { readonly readyState?: unknown }>;
}

/** Where undici keeps the dispatcher that `fetch` uses; version 8 has a place of its own. */
const dispatchers = [
  Symbol.for('undici.globalDispatcher.1'),
  Symbol.for('undici.globalDispatcher.2'),
];

const belowBoth = ['http-request-interceptor', 'node-http-request-source', 'socket-interceptor'];
const interceptors = {
  fetch: ['fetch-interceptor', ...belowBoth].map((name) => Symbol.for(name)),
  'node:http': ['client-request-interceptor', ...belowBoth].map((name) => Symbol.for(name)),
};

/**
 * A mocking tool that would have got this call without us, as far as one can be recognised. A spy
 * around `fetch` cannot: it looks the same whether it answers by itself or calls through.
 *
 * @param dispatcher that the call itself brings along, if any.
 */
export function activeMock(way: 'fetch' | 'node:http', dispatcher?: unknown): string | undefined {
  const globals = globalThis as Globals;
  const { __MSW_INTERCEPTORS_REGISTRY: registry } = globals;
  for (const symbol of interceptors[way]) {
    // Before version 0.44 an interceptor that is active stands there by itself.
    const isActive =
      globals[symbol] !== undefined || registry?.get(symbol)?.readyState === 'ACTIVE';
    if (isActive) return 'a mocking tool (msw, nock or another on @mswjs/interceptors)';
  }
  // `node:http` knows nothing of dispatchers.
  if (way === 'node:http') return undefined;
  const isMocked =
    isMockAgent(dispatcher) || dispatchers.some((symbol) => isMockAgent(globals[symbol]));
  return isMocked ? "undici's MockAgent" : undefined;
}

function isMockAgent(dispatcher: unknown): boolean {
  if (typeof dispatcher !== 'object' || dispatcher === null) return false;
  const { disableNetConnect, isMockActive } = dispatcher as MaybeMockAgent;
  return typeof disableNetConnect === 'function' && isMockActive !== false;
}
