import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Faults } from './faults/faults.ts';
import type { OpenAILike } from './openai-like/description.ts';
import { providerNamed, type SimulatedProvider } from './providers.ts';
import type { LoggedRequest } from './server/request-log.ts';
import { createListener } from './server/server.ts';
import { changeSettings } from './world/change-settings.ts';
import type { SimulatorClock } from './world/clockwork.ts';
import type { Meter } from './world/meter.ts';
import type { SimulatorSettings, SimulatorSettingsChange } from './world/settings.ts';
import {
  addForeignBatch,
  type BatchSummary,
  createState,
  type ForeignBatch,
  summariseBatches,
} from './world/state.ts';

/**
 * Options of {@link startSimulator}; the settings among them can be changed later.
 *
 * @example
 * ```ts
 * const options: SimulatorOptions = {
 *   answer: ({ prompt }) => `You asked: ${prompt}`,
 *   models: ['gpt-5-mini'],
 *   speed: { validating: 0, running: 0, finalizing: 0 },
 * };
 * const simulator = await startSimulator(options);
 * ```
 */
export interface SimulatorOptions extends SimulatorSettingsChange {
  /** Default 0: any free port. */
  port?: number;
  /** Default `127.0.0.1`. */
  host?: string;
  /** Decides the order of result lines. Default 1. */
  seed?: number;
  /** The clock that it runs by. Default: the real time. */
  clock?: SimulatorClock;
  /** Further providers, with files and batches like OpenAI's. */
  openaiLike?: readonly OpenAILike[];
}

/**
 * A running simulator.
 *
 * @example
 * ```ts
 * simulator.hold();
 * simulator.faults.add({ path: '/v1/batches', action: { kind: 'lost' } });
 * simulator.release();
 * console.log(simulator.countRequests('POST', '/v1/batches'), simulator.meter.total);
 * ```
 */
export interface Simulator {
  /** E.g. `http://127.0.0.1:4010`. */
  readonly url: string;
  /** The names of all providers that it speaks for. */
  readonly providers: readonly string[];
  /** What to give to a provider's SDK as its base URL. */
  baseUrl(provider: SimulatedProvider): string;
  /** What the providers would bill. */
  readonly meter: Meter;
  /** Faults and batch outcomes, scripted ahead. */
  readonly faults: Faults;
  /** The requests that reached a provider; the oldest are dropped beyond some thousands. */
  readonly requests: readonly LoggedRequest[];
  /** How many logged requests match; a string must match the whole path. */
  countRequests(method: string, path: string | RegExp): number;
  /** All batches of all accounts, strangers' included. */
  batches(): BatchSummary[];
  /** The settings in force. */
  readonly settings: Readonly<SimulatorSettings>;
  /** Changes settings; batches under way notice where they still can. */
  configure(change: SimulatorSettingsChange): void;
  /** Batches stay in progress, and nothing is executed, until {@link Simulator.release}. */
  hold(): void;
  /** Lets held batches go on. */
  release(): void;
  /** Puts a stranger's batch into an account and returns its id. */
  addForeignBatch(options: ForeignBatch): string;
  /** Forgets everything and returns to the options of the start; the port stays open. */
  reset(): void;
  /** Ends all connections and closes the port; a second call waits for the same end. */
  close(): Promise<void>;
}

/**
 * Starts a server that plays the batch APIs of the providers, without any key or cost. Its answers
 * follow the request: a JSON schema, a tool that must be called; the option `answer` decides otherwise.
 *
 * @example
 * ```ts
 * import OpenAI from 'openai';
 * import { startSimulator } from 'batchling/simulator';
 *
 * const simulator = await startSimulator({ speed: { running: 50 } });
 * const client = new OpenAI({ apiKey: 'sk-any', baseURL: simulator.baseUrl('openai') });
 * await client.chat.completions.create({
 *   model: 'gpt-5',
 *   messages: [{ role: 'user', content: 'Hello' }],
 * });
 * console.log(simulator.meter.total); // 1
 * await simulator.close();
 * ```
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { port = 0, host = '127.0.0.1', seed = 1, clock, openaiLike, ...change } = options;
  const state = createState(seed, change, clock, openaiLike);
  const { world } = state;
  const server = createServer(
    // Short idle times would add resets of their own to those that were scripted.
    { keepAliveTimeout: 60_000, requestTimeout: 0 },
    createListener(state),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const url = urlOf(server.address() as AddressInfo);
  let closed: Promise<void> | undefined;

  return {
    url,
    providers: Object.keys(state.providers),
    baseUrl: (provider) => `${url}/${provider}${providerNamed(state.providers, provider).basePath}`,
    meter: world.meter,
    faults: world.faults,
    requests: state.log.entries,
    countRequests: (method, path) => state.log.count(method, path),
    batches: () => summariseBatches(state),
    settings: world.settings,
    configure: (settings) => changeSettings(world.settings, settings),
    hold: () => world.gate.hold(),
    release: () => world.gate.release(),
    addForeignBatch: (foreign) => addForeignBatch(state, foreign),
    reset: () => state.reset(),
    close() {
      closed ??= new Promise((resolve) => {
        world.clock.stop();
        server.close(() => resolve());
        server.closeAllConnections();
      });
      return closed;
    },
  };
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
