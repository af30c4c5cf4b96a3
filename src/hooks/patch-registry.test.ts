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
  it('wraps what is there and gives it back', () => {
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

  it('leaves alone what somebody else has put around it', () => {
    const target = holder();
    const undo = patch(target, key, around('ours'));
    target[key] = around('theirs')(target[key]);
    undo();
    expect(greet(target)).toBe('theirs(ours(native))');
  });

  it('goes around what somebody else has put there since', () => {
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

  it('is taken up again when somebody else has taken theirs away', () => {
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
});
