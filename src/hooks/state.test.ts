import { afterEach, describe, expect, it } from 'vitest';
import type { HookScope, ScopeOrRealtime } from './border.ts';
import { currentScope, sharedState } from './state.ts';

interface Scope extends HookScope {
  open: boolean;
}

function scope(parent?: ScopeOrRealtime, open = true): Scope {
  const notAskedFor = () => Promise.reject(new Error('not asked for'));
  return {
    open,
    hooked: true,
    parent,
    handle: notAskedFor,
    planRequest: () => 'leave',
    escaped: () => undefined,
    leaveToMock: () => false,
  };
}

function within(around: ScopeOrRealtime): HookScope | undefined {
  return sharedState().scopes.run(around, currentScope);
}

afterEach(() => {
  sharedState().processScope = undefined;
});

describe('the current scope', () => {
  it('is undefined outside of all scopes', () => {
    expect(currentScope()).toBeUndefined();
  });

  it('is the nearest one that is open', () => {
    const outer = scope();
    const middle = scope(outer);
    const inner = scope(middle);
    expect(within(inner)).toBe(inner);
    inner.open = false;
    expect(within(inner)).toBe(middle);
    middle.open = false;
    expect(within(inner)).toBe(outer);
  });

  it('is the nearest closed one where all are closed: it reports calls that come too late', () => {
    const outer = scope(undefined, false);
    const inner = scope(outer, false);
    expect(within(inner)).toBe(inner);
    expect(within({ ...inner, hooked: false })).toBe(outer);
    expect(within(scope({ realtime: true }, false))).toBeUndefined();
  });

  it('is never a scope that captures by its own fetch only', () => {
    const outer = scope();
    expect(within({ ...scope(outer), hooked: false })).toBe(outer);
    expect(within({ ...scope(), hooked: false })).toBeUndefined();
  });

  it('is that of the process where no other is open', () => {
    const ofProcess = scope();
    sharedState().processScope = ofProcess;
    expect(currentScope()).toBe(ofProcess);
    expect(within(scope(undefined, false))).toBe(ofProcess);
    const inner = scope();
    expect(within(inner)).toBe(inner);
    ofProcess.open = false;
    expect(currentScope()).toBeUndefined();
  });

  it('is undefined inside `realtime`, even with a scope of the process', () => {
    sharedState().processScope = scope();
    expect(within({ realtime: true })).toBeUndefined();
    expect(within(scope({ realtime: true }, false))).toBeUndefined();
  });

  it('is one that was opened inside `realtime`', () => {
    const inner = scope({ realtime: true });
    expect(within(inner)).toBe(inner);
  });

  it('follows its code through timers, promises and ticks', async () => {
    const around = scope();
    const seen = await sharedState().scopes.run(around, async () => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      const ticked = await new Promise((resolve) =>
        process.nextTick(() => resolve(currentScope())),
      );
      return [currentScope(), ticked];
    });
    expect(seen).toEqual([around, around]);
    expect(currentScope()).toBeUndefined();
  });
});

describe('the shared state', () => {
  it('is one for all copies of the package', async () => {
    const copy = './state.ts?copy';
    const other = (await import(/* @vite-ignore */ copy)) as typeof import('./state.ts');
    expect(other.currentScope).not.toBe(currentScope);
    expect(other.sharedState()).toBe(sharedState());
    const around = scope();
    expect(sharedState().scopes.run(around, other.currentScope)).toBe(around);
  });
});
