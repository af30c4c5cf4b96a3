import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type Handle,
  type Limits,
  OpenAIBatcher,
  openaiInfo,
  type Plan,
  type PolledBatch,
  type Remote,
  type Route,
  type Row,
  type Wire,
} from '../../../src/batchers/index.ts';
import { type BatchifyOptions, batchify, type ProviderName } from '../../../src/index.ts';
import type { Database } from '../../../src/ledger/sqlite/connection/driver.ts';
import { chatRequest } from '../../support/ask.ts';
import { ManualClock } from '../../support/clocks/manual-clock.ts';
import { fastClock } from '../../support/programs/parts/fast-clock.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon, until } from '../../support/until.ts';

let stage: Stage;
let gate: { arrived: boolean; readonly opened: Promise<void> } | undefined;

beforeEach(async () => {
  stage = await openStage();
  gate = undefined;
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await stage.close();
});

/** Holds the next one who passes it. */
function newGate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  gate = { arrived: false, opened };
  return { gate, open };
}

async function passGate(): Promise<void> {
  const current = gate;
  if (current === undefined) return;
  gate = undefined;
  current.arrived = true;
  await current.opened;
}

/** Waits at the gate after an upload. */
class GatedBatcher extends OpenAIBatcher {
  override readonly info = { ...openaiInfo, name: 'gated' };

  override async stage(wire: Wire, plan: Plan): Promise<Handle> {
    const handle = await super.stage(wire, plan);
    await passGate();
    return handle;
  }
}

/** Says that not all of its results are there yet, shows one line, and waits at the gate. */
class LateBatcher extends OpenAIBatcher {
  override readonly info = { ...openaiInfo, name: 'late' };

  override async *poll(wire: Wire, batches: readonly PolledBatch[]): AsyncIterable<Remote> {
    for await (const remote of super.poll(wire, batches)) {
      yield remote.state === 'ended' ? { ...remote, incomplete: true } : remote;
    }
  }

  override async *results(wire: Wire, remote: Remote): AsyncIterable<readonly Row[]> {
    for await (const rows of super.results(wire, remote)) {
      yield rows.slice(0, 1);
      await passGate();
      return;
    }
  }
}

/** Has its call aborted while the call's queue is being opened. */
class AbortingBatcher extends OpenAIBatcher {
  static controller = new AbortController();
  override readonly info = { ...openaiInfo, name: 'aborting' };
  #asked = 0;

  override limits(route: Route): Limits {
    this.#asked += 1;
    // First for the completion window, then for the queue.
    if (this.#asked === 2) AbortingBatcher.controller.abort(new Error('enough'));
    return super.limits(route);
  }
}

function optionsFor(batcher: typeof OpenAIBatcher, given: BatchifyOptions = {}): BatchifyOptions {
  const provider = new batcher().info.name as ProviderName;
  const hosts = { [stage.simulator.baseUrl('openai')]: provider };
  return stage.options({ ...given, hosts, batchers: [batcher] });
}

function askFor(prompt: string, init: RequestInit = {}): Promise<Response> {
  return fetch(chatUrl(stage), { ...chatRequest(prompt), ...init });
}

/** The locks by which engines of this process show that they live. */
function locks(): Map<string, Database> {
  const shared = globalThis as unknown as Record<symbol, Map<string, Database> | undefined>;
  return shared[Symbol.for('batchling.sqlite.locks')] ?? new Map();
}

describe('the life of a batch', () => {
  it('ends with its engine, although results that are being read turn out to be incomplete', async () => {
    const { gate: reading, open } = newGate();
    const controller = new AbortController();
    const scope = batchify(optionsFor(LateBatcher, { signal: controller.signal }));
    const asked = scope.run(() => Promise.allSettled(['a', 'b'].map((one) => askFor(one))));
    await until(() => reading.arrived, 'the reading');
    controller.abort(new Error('enough'));
    await soon(asked);
    // By now the engine is closing, and watches nothing any more.
    await delay(100);
    open();
    await until(() => locks().size === 0, 'the end of the engine');
  });

  it('gives its room back although it cannot be seen whether it has a twin', async () => {
    const { simulator } = stage;
    const clock = fastClock({ epoch: Date.now(), speed: 20 });
    simulator.faults.add({ method: 'POST', path: '/v1/batches', action: { kind: 'reset' } });
    const scope = batchify(stage.options({ clock, maxInFlight: 1, batchSize: 1, poll: '200ms' }));
    const first = scope.run(() => askFor('first'));
    await until(() => simulator.countRequests('POST', /\/batches$/) === 2, 'the second create');
    const action = { kind: 'status', status: 500 } as const;
    simulator.faults.add({ method: 'GET', path: /^\/v1\/batches$/, times: 10_000, action });
    expect((await soon(first, 20_000)).status).toBe(200);
    const second = scope.run(() => askFor('second'));
    expect((await soon(second, 20_000)).status).toBe(200);
    simulator.faults.clear();
    await soon(scope.close());
  });

  it('leaves the input file alone when another owner has the batch', async () => {
    const { simulator } = stage;
    simulator.hold();
    const errors = [{ code: 'invalid_request', message: 'no' }];
    simulator.faults.nextBatch({ outcome: 'failed', errors });
    const shared = stage.options();
    // The first program looks at its batch when its clock says so: not before the second one has taken it.
    const clock = new ManualClock();
    clock.advance(Date.now() - clock.now());
    const passes = (condition: () => boolean, what: string) =>
      until(() => {
        clock.advance(100);
        return condition();
      }, what);
    vi.stubEnv('BATCHLING_RUN', 'first');
    const first = batchify({ ...shared, clock });
    const before = first.run(() => askFor('shared'));
    await passes(() => first.stats.batches.submitted === 1, 'the batch');
    for (const [file, database] of locks()) {
      database.close();
      locks().delete(file);
    }
    vi.stubEnv('BATCHLING_RUN', 'second');
    const second = batchify({ ...shared, cleanup: false });
    let polls = 0;
    second.on('batch:polled', () => {
      polls += 1;
    });
    const after = second.run(() => askFor('shared'));
    await until(() => polls > 0, 'the takeover');
    simulator.release();
    let isOver = false;
    const ends = Promise.all([before, after]).then(() =>
      Promise.all([first.close(), second.close()]),
    );
    void ends.finally(() => {
      isOver = true;
    });
    await passes(() => isOver, 'the end of both');
    await ends;
    expect(simulator.countRequests('DELETE', /files/)).toBe(0);
  });
});

describe('a request that somebody asks for again', () => {
  it('has a body for its next attempt, although its first caller was told and gone', async () => {
    const { simulator } = stage;
    simulator.hold();
    const options = stage.options();
    const keyed = chatRequest('again', { 'idempotency-key': 'k' });
    const [first, second] = [batchify(options), batchify(options)];
    const before = first.run(() => fetch(chatUrl(stage), keyed));
    await until(() => first.stats.batches.submitted === 1, 'the batch');
    const action = { kind: 'delay', ms: 300 } as const;
    simulator.faults.add({ method: 'POST', path: /cancel$/, action });
    const cancelled = first.cancel();
    expect((await soon(before)).status).toBe(499);
    const after = second.run(() => fetch(chatUrl(stage), keyed));
    await until(() => second.stats.captured === 1, 'the second call');
    await soon(cancelled);
    simulator.release();
    const response = await soon(after, 20_000);
    expect(await response.text()).toContain('again');
    expect(response.status).toBe(200);
    await soon(Promise.all([first.close(), second.close()]));
  });

  it('is answered, although it was aborted during its upload', async () => {
    const { gate: upload, open } = newGate();
    const scope = batchify(optionsFor(GatedBatcher));
    const controller = new AbortController();
    const first = scope.run(() => askFor('again', { signal: controller.signal }));
    first.catch(() => undefined);
    await until(() => upload.arrived, 'the upload');
    controller.abort(new Error('enough'));
    await expect(first).rejects.toThrow('enough');
    const second = scope.run(() => askFor('again'));
    await until(() => scope.stats.captured === 2, 'the second call');
    // It joins the batch whose upload waits.
    await delay(200);
    open();
    expect(await (await soon(second, 20_000)).text()).toContain('answer to');
    await soon(scope.close());
  });

  it('is not kept by a call that was aborted on its way in', async () => {
    const shared = optionsFor(AbortingBatcher);
    vi.stubEnv('BATCHLING_RUN', 'first');
    const first = batchify(shared);
    const { signal } = AbortingBatcher.controller;
    // Caught inside: a scope whose function throws would drop the call anyway.
    await first.run(() => expect(askFor('row', { signal })).rejects.toThrow('enough'));
    // The next call of the same queue goes out without it.
    await soon(first.run(() => askFor('other')));
    expect(stage.simulator.meter.executions).toHaveLength(1);
    vi.stubEnv('BATCHLING_RUN', 'second');
    const second = batchify(shared);
    const response = await soon(
      second.run(() => askFor('row')),
      20_000,
    );
    expect(response.status).toBe(200);
    await soon(Promise.all([first.close(), second.close()]));
  });
});
