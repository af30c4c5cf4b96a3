/** The part of undici's `MockAgent` that we read; one that is `deactivate()`d passes calls on. */
interface MaybeMockAgent {
  readonly disableNetConnect?: unknown;
  readonly isMockActive?: unknown;
}

/** The registry of `@mswjs/interceptors` from version 0.44 on. */
interface Globals {
  readonly [key: symbol]: unknown;
  readonly __MSW_INTERCEPTORS_REGISTRY?: ReadonlyMap<symbol, { readonly readyState?: unknown }>;
}

/** The symbols under which undici keeps the global dispatcher; version 8 has its own. */
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
 * The name of an active mocking tool that would get this call if batchling were not there. A spy
 * around `fetch` cannot be recognised: it looks the same whether it answers or calls through.
 *
 * @param dispatcher the one given to the call itself, if any.
 */
export function activeMock(way: 'fetch' | 'node:http', dispatcher?: unknown): string | undefined {
  const globals = globalThis as Globals;
  const { __MSW_INTERCEPTORS_REGISTRY: registry } = globals;
  for (const symbol of interceptors[way]) {
    // Before version 0.44 an active interceptor is the value of the symbol itself.
    const isActive =
      globals[symbol] !== undefined || registry?.get(symbol)?.readyState === 'ACTIVE';
    if (isActive) return 'a mocking tool (msw, nock or another on @mswjs/interceptors)';
  }
  // `node:http` has no dispatchers.
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
