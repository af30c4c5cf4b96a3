import { afterEach, describe, expect, it } from 'vitest';
import { hookFetch } from '../../src/hooks/fetch/fetch.ts';

type Fetch = typeof fetch;

const native = globalThis.fetch;

afterEach(() => {
  globalThis.fetch = native;
});

describe('the patch of fetch', () => {
  it('is undone with its last owner', () => {
    const undoOne = hookFetch();
    const wrapper = globalThis.fetch;
    const undoTwo = hookFetch();
    expect(wrapper).not.toBe(native);
    expect(globalThis.fetch).toBe(wrapper);
    undoOne();
    undoOne();
    expect(globalThis.fetch).toBe(wrapper);
    undoTwo();
    expect(globalThis.fetch).toBe(native);
  });

  it('keeps the kind of property that fetch was', () => {
    const before = Object.getOwnPropertyDescriptor(globalThis, 'fetch');
    const undo = hookFetch();
    const during = Object.getOwnPropertyDescriptor(globalThis, 'fetch');
    expect(during?.enumerable).toBe(before?.enumerable);
    expect(during).toMatchObject({ configurable: true, writable: true });
    expect(Object.keys(globalThis).includes('fetch')).toBe(before?.enumerable);
    undo();
  });

  it('respects who patches later: the undo leaves that one in place', () => {
    const undo = hookFetch();
    const below = globalThis.fetch;
    const later: Fetch = (...parameters) => below(...parameters);
    globalThis.fetch = later;
    undo();
    expect(globalThis.fetch).toBe(later);
  });

  it('goes around who patched later, and undoes only itself', () => {
    const undoFirst = hookFetch();
    const below = globalThis.fetch;
    const later: Fetch = (...parameters) => below(...parameters);
    globalThis.fetch = later;
    const undoSecond = hookFetch();
    expect(globalThis.fetch).not.toBe(later);
    undoSecond();
    expect(globalThis.fetch).toBe(later);
    undoFirst();
    expect(globalThis.fetch).toBe(later);
  });

  it('never goes around itself, also after a later patcher came and went', () => {
    const undoFirst = hookFetch();
    const wrapper = globalThis.fetch;
    globalThis.fetch = (...parameters) => wrapper(...parameters);
    hookFetch()();
    globalThis.fetch = wrapper;
    const undoSecond = hookFetch();
    expect(globalThis.fetch).toBe(wrapper);
    undoSecond();
    undoFirst();
    expect(globalThis.fetch).toBe(native);
  });
});
