import { afterEach, describe, expect, it } from 'vitest';
import { hookFetch } from '../../../src/hooks/fetch/fetch.ts';

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

  it('leaves a later patch of another library in place when it is undone', () => {
    const undo = hookFetch();
    const below = globalThis.fetch;
    const later: Fetch = (...parameters) => below(...parameters);
    globalThis.fetch = later;
    undo();
    expect(globalThis.fetch).toBe(later);
  });

  it('wraps a later patch of another library, and undoes only itself', () => {
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

  it('never wraps itself, also after another library has patched and left', () => {
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
