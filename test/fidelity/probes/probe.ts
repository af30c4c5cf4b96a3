/** A thing that a program does, and what it sees of it in few words. */
export interface Probe {
  readonly name: string;
  /** Why the program may see something else beside batchling. Missing: it must see the same. */
  readonly differs?: string;
  run(): Promise<unknown>;
}

/** A peer that never answers is seen as such, instead of holding up everything. */
export async function orSilence<T>(work: Promise<T>): Promise<T | 'nothing within 5 s'> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<'nothing within 5 s'>((resolve) => {
    timer = setTimeout(() => resolve('nothing within 5 s'), 5_000);
  });
  try {
    return await Promise.race([work, silence]);
  } finally {
    clearTimeout(timer);
  }
}

export function eventOf<T = unknown>(
  emitter: { once(name: string, listener: (value: T) => void): unknown },
  name: string,
): Promise<T> {
  return new Promise((resolve) => emitter.once(name, resolve));
}
