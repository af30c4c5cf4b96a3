import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type Handle,
  OpenAIBatcher,
  openaiInfo,
  type Plan,
  type Wire,
} from '../../../src/batchers/index.ts';
import { batchify } from '../../../src/index.ts';
import type { Database } from '../../../src/ledger/sqlite/connection/driver.ts';
import { chatRequest } from '../../support/ask.ts';
import { loseOwners } from '../../support/lose-owner.ts';
import { fastClock } from '../../support/programs/parts/fast-clock.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon } from '../../support/until.ts';

type Point = 'stage' | 'create';

let stage: Stage;
/** Where the next batch is held up, after the provider has done its part. */
let gate: { readonly at: Point; arrived(): void; readonly opened: Promise<void> } | undefined;

beforeEach(async () => {
  stage = await openStage();
  gate = undefined;
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await stage.close();
});

async function pass(at: Point): Promise<void> {
  if (gate?.at !== at) return;
  const { arrived, opened } = gate;
  gate = undefined;
  arrived();
  await opened;
}

class GatedBatcher extends OpenAIBatcher {
  override readonly info = { ...openaiInfo, name: 'gated' };

  override async stage(wire: Wire, plan: Plan): Promise<Handle> {
    const handle = await super.stage(wire, plan);
    await pass('stage');
    return handle;
  }

  override async create(wire: Wire, plan: Plan, handle: Handle) {
    const remote = await super.create(wire, plan, handle);
    await pass('create');
    return remote;
  }
}

function setGate(at: Point) {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    gate = { at, arrived: resolve, opened };
  });
  return { open, reached };
}

/** As if the kernel had dropped the locks of this process: its owners look dead to others. */
async function loseLock(): Promise<void> {
  const held = (globalThis as unknown as Record<symbol, Map<string, Database>>)[
    Symbol.for('batchling.sqlite.locks')
  ] as Map<string, Database>;
  for (const [file, database] of held) {
    database.close();
    held.delete(file);
  }
}

const url = () => chatUrl(stage);
const answerOf = async (response: Response) => ({
  status: response.status,
  body: (await response.json()) as { choices?: [{ message: { content: string } }] },
});

function options() {
  const hosts = { [stage.simulator.baseUrl('openai')]: 'gated' } as const;
  const clock = fastClock({ epoch: Date.now(), speed: 20 });
  return stage.options({ hosts, batchers: [GatedBatcher], clock, window: '400ms', poll: '200ms' });
}

describe('a batch that another owner takes over while it is being sent', () => {
  it.each([
    ['stage', 'the lock'],
    ['create', 'the lock'],
    ['stage', 'the row'],
    ['create', 'the row'],
  ] as const)('at %s, because %s of its owner is gone', async (point, lost) => {
    const { simulator } = stage;
    const shared = options();
    const { open, reached } = setGate(point);
    vi.stubEnv('BATCHLING_RUN', 'first');
    const first = batchify(shared);
    const before = first.run(() => fetch(url(), chatRequest('shared')));
    await soon(reached);
    if (lost === 'the lock') await loseLock();
    else await loseOwners(shared.store as string);

    vi.stubEnv('BATCHLING_RUN', 'second');
    const second = batchify(shared);
    const taken = await answerOf(await soon(second.run(() => fetch(url(), chatRequest('shared')))));
    expect(taken.body.choices?.[0].message.content).toContain('"shared"');
    open();
    const answered = await answerOf(await soon(before));
    expect(answered).toEqual(taken);
    expect(simulator.meter.total).toBe(1);
    expect(simulator.countRequests('POST', '/v1/batches')).toBe(1);
    await soon(Promise.all([first.close(), second.close()]));
  });
});
