import { createRequire } from 'node:module';
import type { LookupFunction, Socket } from 'node:net';
import type { Agent, buildConnector, Dispatcher } from 'undici';
import { bundlerAdvice } from '../base/bundlers.ts';
import { BatchlingError, messageOf } from '../base/errors.ts';

const proxyVariables = ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY'] as const;

export interface AgentOptions {
  /** What names mean to the connections; a proxy finds its names itself. */
  readonly lookup?: LookupFunction;
  /**
   * Whether requests keep the process up. Where they do not, each needs a connection of its own (`reset`): undici lets a
   * connection that is used again hold the process.
   */
  readonly holdsProcess?: boolean;
}

/** Private connections. */
export async function createAgent(
  idleTimeout: number,
  { lookup, holdsProcess = true }: AgentOptions = {},
): Promise<Dispatcher> {
  const connect = { timeout: Math.min(idleTimeout, 10_000), ...(lookup && { lookup }) };
  const withOptions = (build: typeof buildConnector) => ({
    connect: holdsProcess ? connect : unheld(build(connect)),
    pipelining: 1,
  });
  if (!proxyVariables.some((name) => process.env[name])) {
    const parts = loadAgentOnly();
    const { Agent, buildConnector } = parts ?? (await loadUndici());
    const agent = new Agent(withOptions(buildConnector));
    return parts ? Object.assign(agent, { request: parts.request }) : agent;
  }
  const { EnvHttpProxyAgent, Pool, buildConnector } = await loadUndici();
  const clientFactory = (origin: URL, given: object) =>
    new Pool(origin, { ...given, connect: unheld(buildConnector({ timeout: connect.timeout })) });
  try {
    return new EnvHttpProxyAgent({
      ...withOptions(buildConnector),
      ...(!holdsProcess && { clientFactory }),
    });
  } catch {
    // The cause is left out: it quotes the URL of the proxy, which may hold a password.
    throw new BatchlingError(
      'INVALID_OPTION',
      'HTTP_PROXY or HTTPS_PROXY is not the URL of a proxy, such as http://proxy.example:3128.',
    );
  }
}

/** Connections that do not keep the process up, from their first moment on. */
function unheld(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) => {
    // The connector returns the socket that it opens, which undici does not say in its types.
    const socket = connect(options, callback) as unknown as Socket | undefined;
    socket?.unref();
  };
}

async function loadUndici(): Promise<typeof import('undici')> {
  // Whichever undici loads first becomes the global dispatcher, ours included. Node's own one has
  // to be first, or the program's fetch would run on our copy. Reading `Request` loads it.
  void globalThis.Request;
  try {
    // Bun answers to the bare name with a stand-in of its own, which has no dispatcher.
    return await (process.versions.bun ? import('undici/index.js') : import('undici'));
  } catch (error) {
    const message = `undici could not be loaded: ${messageOf(error)}. ${bundlerAdvice}`;
    throw new BatchlingError('NOT_AVAILABLE', message, { cause: error });
  }
}

interface AgentParts {
  readonly Agent: typeof Agent;
  readonly buildConnector: typeof buildConnector;
  readonly request: Dispatcher['request'];
}

/**
 * The agent of undici and its `request`, without the rest of the package (fetch, WebSocket, caches, mocks), which takes
 * three times as long to load: 60 ms of every program. `undefined` where the package is not laid out as it is today, or
 * cannot be resolved from here, as in a bundle: then all of it is loaded.
 */
function loadAgentOnly(): AgentParts | undefined {
  try {
    const load = createRequire(createRequire(import.meta.url).resolve('undici'));
    const parts: AgentParts = {
      Agent: load('./lib/dispatcher/agent.js'),
      buildConnector: load('./lib/core/connect.js'),
      request: load('./lib/api/api-request.js'),
    };
    return Object.values(parts).every((part) => typeof part === 'function') ? parts : undefined;
  } catch {
    return undefined;
  }
}
