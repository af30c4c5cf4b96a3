import type { Clock } from '../../src/base/types.ts';
import type { Batcher } from '../../src/batchers/batcher.ts';
import { registeredBatchers } from '../../src/batchers/registry.ts';
import { routeOf } from '../../src/cli/doctor/live.ts';
import { LiveBatch } from '../../src/cli/doctor/live-batch.ts';
import { outcomeOf } from '../../src/cli/doctor/live-report.ts';
import { sampleFor } from '../../src/cli/doctor/live-sample.ts';
import {
  type Exchange,
  exchangeOf,
  pathBelow,
  type RecordedBatch,
  type Recording,
  replyOf,
} from '../../src/cli/doctor/recording.ts';
import { recordingWire } from '../../src/cli/doctor/recording-wire.ts';
import { Redactor } from '../../src/cli/doctor/redactor.ts';
import { createHttpClient } from '../../src/http/client.ts';
import type { Wire } from '../../src/http/wire.ts';
import type { SimulatedProvider, Simulator } from '../../src/simulator/index.ts';

const clock: Clock = {
  now: Date.now,
  setTimeout: (callback, milliseconds) => setTimeout(callback, milliseconds),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};
const never = new AbortController().signal;

export async function batcherOf({ provider }: Pick<Recording, 'provider'>): Promise<Batcher> {
  const registered = registeredBatchers().find(({ name }) => name === provider);
  if (registered === undefined) throw new Error(`No provider is called "${provider}".`);
  return registered.load();
}

/** What the batcher makes of a recorded batch now. */
export async function replay(
  batcher: Batcher,
  { model, base = '/v1' }: Pick<Recording, 'model' | 'base'>,
  { token, itemId, exchanges }: RecordedBatch,
  isCancelled: boolean,
): Promise<object> {
  const wire = recordingWire(recordedWire(exchanges, base), () => []);
  const sample = sampleFor(batcher.info, { model, base: wire.base });
  const batch = new LiveBatch(batcher, wire, routeOf(batcher, sample), { token, itemId });
  const cancel = isCancelled ? cancelOf(batcher, wire) : undefined;
  return outcomeOf(batcher, await batch.run(0, never, cancel));
}

function cancelOf(batcher: Batcher, wire: Wire) {
  return (remote: Parameters<Batcher['cancel']>[1]) => batcher.cancel(wire, remote);
}

/** Answers each request with what was recorded for it; one that is asked more often gets the last again. */
function recordedWire(exchanges: readonly Exchange[], path: string): Wire {
  const left = [...exchanges];
  const base = `https://recorded.example${path}`;
  return {
    base,
    clock,
    redact: (text) => text,
    async send(request) {
      const headers = { 'content-type': 'application/json' };
      const asked = { ...request, path: pathBelow(base, request.path) };
      const { method, path } = exchangeOf(asked, { status: 0, headers }, '', new Redactor([]));
      const isSame = (one: Exchange) => one.method === method && one.path === path;
      // An id that is drawn by lot is another one in each run.
      const isAlike = (one: Exchange) =>
        one.method === method && withoutNumbers(one.path) === withoutNumbers(path);
      const isIt = exchanges.some(isSame) ? isSame : isAlike;
      const at = left.findIndex(isIt);
      const [next] = at === -1 ? exchanges.filter(isIt).slice(-1) : left.splice(at, 1);
      if (next === undefined) throw new Error(`The recording has no ${method} ${path}.`);
      const { status, headers: recorded, body } = next;
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const length = String(Buffer.byteLength(text));
      return replyOf(status, { 'content-length': length, ...recorded }, text);
    },
  };
}

function withoutNumbers(path: string): string {
  return path.replace(/redacted\d+/g, 'redacted');
}

/** The traffic of the same two batches with the simulator. */
export async function simulated(
  simulator: Simulator,
  batcher: Batcher,
  { provider, model }: Pick<Recording, 'provider' | 'model'>,
): Promise<Exchange[]> {
  const http = createHttpClient({ clock });
  const sample = sampleFor(batcher.info, {
    model,
    base: simulator.baseUrl(provider as SimulatedProvider),
  });
  const headers = { authorization: 'Bearer sk-simulated', 'x-api-key': 'sk-simulated' };
  const { base } = sample;
  const bare = http.wire({
    base,
    origins: batcher.origins(base),
    credentials: () => ({ headers }),
  });
  const wire = recordingWire(bare, () => [], new Redactor(Object.values(headers), model));
  const route = routeOf(batcher, sample);
  await new LiveBatch(batcher, wire, route).run(5, never);
  await new LiveBatch(batcher, wire, route).run(5, never, cancelOf(batcher, wire));
  await http.close();
  const prefix = new URL(base).pathname.replace(/\/v\d\w*$/, '');
  return wire
    .takeExchanges()
    .map((one) =>
      one.path.startsWith(prefix) ? { ...one, path: one.path.slice(prefix.length) } : one,
    );
}

export interface Difference {
  readonly where: string;
  readonly recorded: string;
  readonly simulated: string;
}

/** Fields of replies that only one of both has, or that have other types. A reply that only one has says nothing. */
export function differences(
  recorded: readonly Exchange[],
  simulation: readonly Exchange[],
): Difference[] {
  const [theirs, ours] = [fieldsByKind(recorded), fieldsByKind(simulation)];
  return [...theirs].flatMap(([kind, fields]) => {
    const others = ours.get(kind);
    if (others === undefined) return [];
    return [...new Set([...fields.keys(), ...others.keys()])].flatMap((field) => {
      const [one, other] = [fields, others].map((some) => [...(some.get(field) ?? [])].sort());
      const [seen, played] = [one?.join(' or ') || 'none', other?.join(' or ') || 'none'];
      // What may be null may be left out.
      const facts = (types: string) =>
        types.split(' or ').filter((type) => !/^(none|null)$/.test(type));
      if (facts(seen).join() === facts(played).join()) return [];
      return [{ where: `${kind} ${field}`, recorded: seen, simulated: played }];
    });
  });
}

/** Of each kind of reply: the types that each field has. */
function fieldsByKind(exchanges: readonly Exchange[]): Map<string, Map<string, Set<string>>> {
  const kinds = new Map<string, Map<string, Set<string>>>();
  for (const { method, path, status, body } of exchanges) {
    const kind = `${method} ${path.replace(/^\/v\d\w*(?=\/)/, '').replace(/[^/]*redacted\d+[^/:]*/g, '{id}')} ${status}`;
    const fields = kinds.get(kind) ?? new Map<string, Set<string>>();
    kinds.set(kind, fields);
    const values = typeof body === 'string' ? body.split('\n').filter(Boolean).map(jsonOf) : [body];
    for (const value of values) addFields(fields, '', value);
  }
  return kinds;
}

function addFields(fields: Map<string, Set<string>>, path: string, value: unknown): void {
  if (Array.isArray(value)) {
    for (const one of value) addFields(fields, `${path}[]`, one);
    return;
  }
  if (typeof value === 'object' && value !== null) {
    for (const [name, one] of Object.entries(value)) addFields(fields, `${path}.${name}`, one);
    return;
  }
  const types = fields.get(path) ?? new Set();
  fields.set(path, types.add(value === null ? 'null' : typeof value));
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}
