import { describe, expect, it } from 'vitest';
import { patch } from './patch-registry.ts';

type Greet = () => string;

/** A name of its own per test: the registry belongs to the whole process. */
let turn = 0;
let key = '';

function holder() {
  turn += 1;
  key = `greet-${turn}`;
  return { [key]: () => 'native' } as Record<string, Greet>;
}

function greet(target: Record<string, Greet>): string {
  return (target[key] as Greet)();
}

function around(name: string) {
  return (original: Greet | undefined) => () => `${name}(${original?.()})`;
}

describe('a patch', () => {
  it('wraps the current value, and its undo restores it', () => {
    const target = holder();
    const original = target[key];
    const undo = patch(target, key, around('ours'));
    expect(greet(target)).toBe('ours(native)');
    undo();
    expect(target[key]).toBe(original);
  });

  it('is shared by its owners, and ends with the last of them', () => {
    const target = holder();
    const first = patch(target, key, around('ours'));
    const second = patch(target, key, around('again'));
    expect(greet(target)).toBe('ours(native)');
    first();
    expect(greet(target)).toBe('ours(native)');
    second();
    expect(greet(target)).toBe('native');
  });

  it('is undone once per owner, however often it is asked', () => {
    const target = holder();
    const first = patch(target, key, around('ours'));
    patch(target, key, around('again'));
    first();
    first();
    first();
    expect(greet(target)).toBe('ours(native)');
  });

  it('can be made again after it was undone', () => {
    const target = holder();
    patch(target, key, around('ours'))();
    const undo = patch(target, key, around('ours'));
    expect(greet(target)).toBe('ours(native)');
    undo();
    expect(greet(target)).toBe('native');
  });

  it('leaves a wrapper that another library has put around it', () => {
    const target = holder();
    const undo = patch(target, key, around('ours'));
    target[key] = around('theirs')(target[key]);
    undo();
    expect(greet(target)).toBe('theirs(ours(native))');
  });

  it('wraps what another library has put there since', () => {
    const target = holder();
    const first = patch(target, key, around('ours'));
    const theirs = around('theirs')(target[key]);
    target[key] = theirs;
    const second = patch(target, key, around('ours'));
    expect(greet(target)).toBe('ours(theirs(ours(native)))');
    second();
    expect(target[key]).toBe(theirs);
    first();
    expect(target[key]).toBe(theirs);
  });

  it('is used again when another library has removed its wrapper', () => {
    const target = holder();
    const undo = patch(target, key, around('ours'));
    const ours = target[key] as Greet;
    target[key] = around('theirs')(ours);
    undo();
    target[key] = ours;
    patch(target, key, around('ours'))();
    expect(greet(target)).toBe('native');
  });

  it('keeps the kind of the property', () => {
    for (const enumerable of [true, false]) {
      const target = holder();
      const before = { value: () => 'native', writable: true, configurable: true, enumerable };
      Object.defineProperty(target, key, before);
      const undo = patch(target, key, around('ours'));
      const during = Object.getOwnPropertyDescriptor(target, key);
      expect(during).toMatchObject({ writable: true, configurable: true, enumerable });
      undo();
      expect(Object.getOwnPropertyDescriptor(target, key)).toEqual(before);
    }
  });

  it('of one object does not touch the same name of another', () => {
    const target = holder();
    const other: Record<string, Greet> = { [key]: () => 'other' };
    const undo = patch(target, key, around('ours'));
    const undoOther = patch(other, key, around('ours'));
    const undoAgain = patch(target, key, around('again'));
    expect([greet(target), greet(other)]).toEqual(['ours(native)', 'ours(other)']);
    undo();
    undoOther();
    undoAgain();
    expect([greet(target), greet(other)]).toEqual(['native', 'other']);
  });

  it('restores an accessor as an accessor', () => {
    const target = holder();
    let asked = 0;
    const before: PropertyDescriptor = {
      get: () => {
        asked += 1;
        return () => 'theirs';
      },
      set: () => expect.unreachable('nobody assigns'),
      enumerable: false,
      configurable: true,
    };
    Object.defineProperty(target, key, before);
    const undo = patch(target, key, around('ours'));
    expect(greet(target)).toBe('ours(theirs)');
    const during = asked;
    greet(target);
    expect(asked).toBe(during);
    undo();
    expect(Object.getOwnPropertyDescriptor(target, key)).toEqual(before);
  });

  it('restores an inherited property as inherited', () => {
    const target: Record<string, Greet> = Object.create(holder());
    const undo = patch(target, key, around('ours'));
    expect(greet(target)).toBe('ours(native)');
    undo();
    expect([Object.hasOwn(target, key), greet(target)]).toEqual([false, 'native']);
  });

  it.each([
    ['cannot be configured', { writable: true, configurable: false, enumerable: true }],
    ['cannot be written', { writable: false, configurable: true, enumerable: true }],
  ])('of a property that %s keeps it so', (_what, kind) => {
    const target = holder();
    const value = target[key];
    delete target[key];
    Object.defineProperty(target, key, { ...kind, value });
    const undo = patch(target, key, around('ours'));
    expect(greet(target)).toBe('ours(native)');
    expect(Object.getOwnPropertyDescriptor(target, key)).toMatchObject(kind);
    undo();
    expect(Object.getOwnPropertyDescriptor(target, key)).toEqual({ ...kind, value });
  });

  it('goes through the setter of an accessor that cannot be configured', () => {
    const target = holder();
    const native = target[key];
    let value = native;
    delete target[key];
    Object.defineProperty(target, key, {
      get: () => value,
      set: (next) => {
        value = next;
      },
    });
    const undo = patch(target, key, around('ours'));
    expect(greet(target)).toBe('ours(native)');
    undo();
    expect(value).toBe(native);
  });
});

describe('a property that is locked', () => {
  const lockedTargets: [what: string, lock: (target: Record<string, Greet>) => unknown][] = [
    ['frozen', (target) => Object.freeze(target)],
    [
      'read-only',
      (target) => Object.defineProperty(target, key, { writable: false, configurable: false }),
    ],
    [
      'of a setter that does nothing',
      (target) => {
        const native = target[key];
        Object.defineProperty(target, key, {
          get: () => native,
          set: () => undefined,
          configurable: false,
        });
      },
    ],
    [
      'of a setter that throws',
      (target) => {
        const native = target[key];
        const set = () => {
          throw new Error('hands off');
        };
        Object.defineProperty(target, key, { get: () => native, set, configurable: false });
      },
    ],
  ];

  it.each(lockedTargets)('%s gives a clear error and stays as it was', (_what, lock) => {
    const target = holder();
    lock(target);
    const before = Object.getOwnPropertyDescriptor(target, key);
    let error: unknown;
    try {
      patch(target, key, around('ours'), 'globalThis.greet');
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: 'GLOBAL_LOCKED', facts: { global: 'globalThis.greet' } });
    expect(String(error)).toMatch(/globalThis\.greet is locked.*hooks: false.*scope\.fetch/);
    expect(Object.getOwnPropertyDescriptor(target, key)).toEqual(before);
  });

  it('that was locked after the patch keeps the wrapper, and the undo does not throw', () => {
    const target = holder();
    const undo = patch(target, key, around('ours'));
    Object.freeze(target);
    undo();
    expect(greet(target)).toBe('ours(native)');
    const again = patch(target, key, around('ours'));
    expect(greet(target)).toBe('ours(native)');
    again();
  });
});

describe('a wrapper', () => {
  const mark = Symbol('mark');

  it('looks like what it wraps, whose own properties are seen through it', () => {
    const target = holder();
    const original = Object.assign(target[key] as Greet, { mock: { calls: [1] }, [mark]: true });
    const undo = patch(target, key, around('ours'));
    const wrapper = target[key] as typeof original;
    expect(wrapper).not.toBe(original);
    expect([wrapper.name, wrapper.length]).toEqual([original.name, original.length]);
    expect([wrapper.mock, wrapper[mark]]).toEqual([{ calls: [1] }, true]);
    expect(Object.keys(wrapper)).toEqual([]);
    undo();
  });

  it('keeps properties that are set on it to itself', () => {
    const target = holder();
    const original = Object.assign(target[key] as Greet, { mark: 1 });
    const undo = patch(target, key, around('ours'));
    const wrapper = target[key] as typeof original;
    Object.assign(wrapper, { mark: 2, more: 3 });
    expect([wrapper.mark, original.mark, 'more' in original]).toEqual([2, 1, false]);
    undo();
  });
});
