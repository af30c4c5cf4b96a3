import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OpenAIBatcher } from '../../batchers/openai/openai-batcher.ts';
import { RegisteredBatcher } from '../../batchers/registry.ts';
import { resolveOptions } from '../../options/index.ts';
import { systemClock } from '../../options/system-clock.ts';
import { Router, type Target } from '../../orchestrator/capture/router.ts';
import type { Verdict } from '../../orchestrator/model/call.ts';
import { type CallOwner, ClientCall } from '../calls/client-call.ts';
import { ScopeEvents } from '../scope-events.ts';
import { EngineDoor } from './engine-door.ts';
import { engineScope } from './engine-scope.ts';

const options = resolveOptions({ store: ':memory:', display: 'none', window: '1h' });
const owner: CallOwner = {
  ended: () => undefined,
  clock: systemClock,
};

function targetOf(make: () => Promise<OpenAIBatcher>): Target {
  const { info } = new OpenAIBatcher();
  const router = new Router([new RegisteredBatcher(info, make)], []);
  return router.find('https://api.openai.com/v1/chat/completions') as Target;
}

const working = () => targetOf(async () => new OpenAIBatcher());
const broken = () => targetOf(() => Promise.reject(new Error('no such module')));

function door(given = options) {
  const events = new ScopeEvents();
  const opened = new EngineDoor(given, events);
  const scope = engineScope(given, events);
  return {
    release: () => opened.release(),
    enter(target: Target, body = 'no JSON: it comes out again at once'): Promise<Verdict> {
      const facts = { scope, target, query: '', headers: {}, body, signal: undefined, url: '' };
      const call = new ClientCall<Verdict>(owner, facts, (_call, verdict) => verdict);
      opened.enter(call);
      return call.result;
    },
  };
}

describe('a batcher that cannot be loaded', () => {
  it('has its calls rejected, and lets those of the others in', async () => {
    const { enter, release } = door();
    const calls = [broken(), working(), broken()].map((target) => enter(target));
    expect(await Promise.allSettled(calls)).toMatchObject([
      { status: 'rejected', reason: { message: 'no such module' } },
      { value: { bypass: expect.any(String) } },
      { status: 'rejected' },
    ]);
    await expect(enter(broken())).rejects.toThrow('no such module');
    expect(await enter(working())).toHaveProperty('bypass');
    await release();
  });
});

describe('what could not be loaded', () => {
  it('is tried again by the next call: a batcher', async () => {
    let broken = true;
    const target = targetOf(async () => {
      if (broken) throw new Error('too many open files');
      return new OpenAIBatcher();
    });
    const { enter, release } = door();
    const together = await Promise.allSettled([enter(target), enter(target)]);
    expect(together.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    broken = false;
    expect(await enter(target)).toHaveProperty('bypass');
    await release();
  });

  it('is tried again by the next call: the ledger', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'batchling-door-'));
    try {
      const store = join(folder, 'ledger.db');
      writeFileSync(store, 'this is no database, and long enough to be looked at'.repeat(100));
      const { enter, release } = door(resolveOptions({ store, display: 'none', window: '1h' }));
      const refused = { answer: { status: 500 } };
      expect(await Promise.all([enter(working()), enter(working())])).toMatchObject([
        refused,
        refused,
      ]);
      rmSync(store);
      expect(await enter(working())).toHaveProperty('bypass');
      await release();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('a door that was released', () => {
  const cancelled = { answer: { status: 499 } };

  it('answers who comes too late', async () => {
    const { enter, release } = door();
    await enter(working());
    await release();
    expect(await enter(working())).toMatchObject(cancelled);
    const target = working();
    await target.load();
    expect(await enter(target)).toMatchObject(cancelled);
  });

  it('opens no engine', async () => {
    const { enter, release } = door();
    await release();
    expect(await enter(working())).toMatchObject(cancelled);
  });

  it('answers who was on its way in', async () => {
    const { enter, release } = door();
    const call = enter(working(), '{"model":"gpt-test","messages":[]}');
    await release();
    expect(await call).toMatchObject(cancelled);
  });
});
