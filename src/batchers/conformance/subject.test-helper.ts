import { createHash } from 'node:crypto';
import { it, onTestFinished } from 'vitest';
import type { Answer, Clock, Dict, Handle } from '../../base/types.ts';
import { createHttpClient } from '../../http/client.ts';
import type { Wire } from '../../http/wire.ts';
import {
  type FaultAction,
  type FaultRule,
  type OpenAILike,
  type Simulator,
  type SimulatorSettingsChange,
  startSimulator,
} from '../../simulator/index.ts';
import type { Batcher, Call, Item, Plan, Remote, Route, Row } from '../batcher.ts';
import type { Settings } from '../provider-info.ts';

/** A batcher, the provider of the simulator that plays its other side, and what the suite must know. */
export interface BatcherSubject {
  readonly batcher: Batcher;
  /** The simulator's name of the provider, where it is not the batcher's. */
  readonly simulated?: string;
  /** For a provider that the simulator does not have. */
  readonly openaiLike?: OpenAILike;
  /** The endpoint to use, below the root. */
  readonly path: string;
  /** Where the path names the model: that name. Missing: the body names it. */
  readonly model?: string;
  /** A body that this endpoint takes. */
  body(prompt: string): Record<string, unknown>;
  readonly headers?: Dict;
  /** What calls with this key carry. Missing: the key in the first of the provider's headers for it. */
  callHeaders?(key: string): Dict;
  /** The query of the call, with its question mark. */
  readonly query?: string;
  /** What the user would say with the option `providers`. */
  readonly settings?: Settings;
  /** What the simulator has to allow for batches of a few requests. */
  readonly simulatorSettings?: SimulatorSettingsChange;
  /** What stands behind the simulator's mount, where it is not the first root alone. */
  readonly base?: string;
  /** Where requests of the batch wire go, below the simulator's mount. */
  readonly requests: {
    readonly create: string;
    /** Where batches are listed and asked for. Missing: where they are created. */
    readonly list?: string;
    readonly results: RegExp;
    readonly upload?: string | RegExp;
    /** Where one batch is asked for. Missing: below the list. */
    readonly poll?: RegExp;
    /** Missing: a path that ends in `cancel`. */
    readonly cancel?: RegExp;
  };
  /** What the official SDK makes of an error answer. */
  sdkError?(answer: Answer): { readonly status: unknown; readonly message: string };
  /** Names of tests that make no sense here, each with the reason. */
  readonly skip?: Readonly<Record<string, string>>;
}

/** Simulated batches end within milliseconds; this leaves room for a busy machine. */
const patience = 15_000;

export const apiKey = 'sk-conformance-51c09e77';

export const clock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, delay) => setTimeout(callback, delay),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

export type Test = (name: string, run: (subject: BatcherSubject) => Promise<void> | void) => void;

/** `it`, except that a skipped test says why. */
export function testsOf(subject: BatcherSubject, names: Set<string>): Test {
  return (name, run) => {
    names.add(name);
    const reason = subject.skip?.[name];
    if (reason === undefined) it(name, () => run(subject));
    else it.skip(`${name} (skipped: ${reason})`, () => undefined);
  };
}

export interface Bench {
  readonly batcher: Batcher;
  readonly simulator: Simulator;
  readonly wire: Wire;
  /** A wire with another key. */
  wireWith(key: string): Wire;
  strike(
    what: keyof ReturnType<typeof requestsOf>,
    action: FaultAction,
    often?: Pick<FaultRule, 'times'>,
  ): void;
  /** Stages and creates a batch of these prompts. */
  send(prompts: readonly string[]): Promise<{ plan: Plan; handle: Handle; remote: Remote }>;
  /** Polls until the batch has ended and says where all its results are. */
  ended(remote: Pick<Remote, 'id'>, plan: Plan, handle?: Handle): Promise<Remote>;
  rows(remote: Remote): Promise<Row[]>;
}

export async function openBench(
  subject: BatcherSubject,
  settings: SimulatorSettingsChange = {},
): Promise<Bench> {
  const { batcher } = subject;
  const { name, roots, credentialHeaders } = batcher.info;
  const simulator = await startSimulator({
    speed: { validating: 0, running: 0, finalizing: 0, cancelling: 0 },
    ...(subject.openaiLike && { openaiLike: [subject.openaiLike] }),
    ...subject.simulatorSettings,
    ...settings,
  });
  const http = createHttpClient({ clock, idleTimeout: 5_000 });
  onTestFinished(async () => {
    await http.close();
    await simulator.close();
  });
  const base = `${simulator.url}/${subject.simulated ?? name}${subject.base ?? roots[0]}`;
  const [header = 'authorization'] = credentialHeaders;
  const wireWith = (key: string) => {
    const usual = { [header]: header === 'authorization' ? `Bearer ${key}` : key };
    const headers = subject.callHeaders?.(key) ?? usual;
    const keys = { accessKeyId: key, secretAccessKey: `secret-of-${key}` };
    return http.wire({
      base,
      origins: batcher.origins(base),
      credentials: () => ({ headers }),
      // A batcher that signs is given keys in place of a token.
      refresh: async (captured, request) =>
        (await batcher.sign?.(request, captured, () => keys)) ?? captured,
      signs: batcher.sign !== undefined,
    });
  };
  const wire = wireWith(apiKey);

  async function ended(remote: Pick<Remote, 'id'>, plan: Plan, handle: Handle = {}) {
    const until = performance.now() + patience;
    for (;;) {
      const polled = { id: remote.id, count: plan.count, handle };
      for await (const seen of batcher.poll(wire, [polled])) {
        if (seen.state === 'missing') throw new Error(`Batch ${remote.id} is missing`);
        if (seen.state === 'ended' && !seen.incomplete) return seen;
        if (performance.now() < until) continue;
        throw new Error(
          `Batch ${seen.id} is still "${seen.raw}" (${seen.state}). Does the batcher know this status word?`,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  return {
    batcher,
    simulator,
    wire,
    wireWith,
    strike: (what, action, often = {}) => {
      simulator.faults.add({ ...requestsOf(subject)[what], ...often, action });
    },
    async send(prompts) {
      const plan = planOf(subject, prompts);
      const handle = await batcher.stage(wire, plan);
      return { plan, handle, remote: await batcher.create(wire, plan, handle) };
    },
    ended,
    async rows(remote) {
      const rows: Row[] = [];
      for await (const group of batcher.results(wire, remote)) rows.push(...group);
      return rows;
    },
  };
}

function requestsOf({ requests }: BatcherSubject) {
  const { create, list = create, results, upload = /^never$/, cancel } = requests;
  const one = requests.poll ?? new RegExp(`^${list}/[^/]+$`);
  return {
    create: { method: 'POST', path: create },
    list: { method: 'GET', path: list },
    poll: { method: 'GET', path: one },
    results: { method: 'GET', path: results },
    cancel: { method: 'POST', path: cancel ?? /[/:]cancel$/ },
    upload: { method: typeof upload === 'string' ? 'POST' : 'PUT', path: upload },
  };
}

/** A call as the router hands it over. */
export function callOf(subject: BatcherSubject, body: string): Call {
  const json = JSON.parse(body) as Record<string, unknown>;
  const { path, query = '', headers = {}, settings = {} } = subject;
  return { query, path, headers, body, json, settings };
}

export function routeOf(subject: BatcherSubject, body: string): Route {
  const match = subject.batcher.match(callOf(subject, body));
  if ('bypass' in match) throw new Error(`bypassed: ${match.bypass}`);
  if ('unconfigured' in match) throw new Error(match.unconfigured);
  if ('parts' in match) throw new Error('The suite needs a call that is one request');
  return match;
}

/** As the engine makes ids: 43 characters of fingerprint and the occurrence. */
export function idOf(prompt: string, occurrence = 0): string {
  return `${createHash('sha256').update(prompt).digest('base64url')}-${occurrence}`;
}

let plans = 0;

export function planOf(subject: BatcherSubject, prompts: readonly string[]): Plan {
  const { batcher } = subject;
  const routes = prompts.map((prompt) => routeOf(subject, JSON.stringify(subject.body(prompt))));
  const [route] = routes;
  if (route === undefined) throw new Error('A plan needs a prompt');
  const items = routes.map(({ body }, index): Item => {
    const id = idOf(prompts[index] as string);
    return { id, body, ...batcher.envelope(route, id) };
  });
  const [window] = Object.values(batcher.limits(route).windows);
  plans += 1;
  return {
    // Of one length, because it is part of forms whose length is compared.
    token: `conformance-${String(plans).padStart(6, '0')}`,
    route,
    count: items.length,
    bytes: items.reduce((sum, { before, body, after }) => sum + size(before + body + after), 0),
    completionWindow: window?.word ?? '',
    settings: subject.settings ?? {},
    tags: { name: 'conformance' },
    async *items() {
      for (const item of items) yield [item];
    },
  };
}

function size(text: string): number {
  return Buffer.byteLength(text);
}

export function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'no failure',
    (error: unknown) => error,
  );
}

export async function all<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const list: Value[] = [];
  for await (const value of values) list.push(value);
  return list;
}
