const mark = Symbol.for('batchling.test.sharedProcess');

/** Says that several test files run in this process, so that what one of them leaves behind is seen by the next. */
export function markProcessAsShared(): void {
  Reflect.set(globalThis, mark, true);
}

/** Throws in a process that several test files share: what `who` looks at belongs to the whole process. */
export function needOwnProcess(who: string): void {
  if (!Reflect.has(globalThis, mark)) return;
  throw new Error(`${who} needs a process of its own: add this test file to vitest.config.ts`);
}
