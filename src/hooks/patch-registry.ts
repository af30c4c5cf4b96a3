import { type Patch, sharedState } from './state.ts';

/**
 * The one place that replaces a global. Owners are counted, so that two users of one patch do not
 * undo each other. Some other library may wrap the same global later: then its value is not ours any
 * more, and a new wrapper goes around what is there now, while only what is still ours is restored.
 *
 * @returns the undo of this owner; calling it twice is fine.
 */
export function patch<Holder extends object, Key extends keyof Holder & string>(
  holder: Holder,
  key: Key,
  wrap: (original: Holder[Key]) => Holder[Key],
): () => void {
  const { patches } = sharedState();
  let entry = patches.get(key);
  if (entry === undefined || holder[key] !== entry.replacement) {
    const original = holder[key];
    const replacement = wrap(original);
    replace(holder, key, replacement);
    entry = { original, replacement, owners: 0 };
    patches.set(key, entry);
  }
  entry.owners += 1;
  let undone = false;
  const mine = entry;
  return () => {
    if (undone) return;
    undone = true;
    release(holder, key, mine);
  };
}

function release<Holder extends object, Key extends keyof Holder & string>(
  holder: Holder,
  key: Key,
  entry: Patch,
): void {
  const { patches } = sharedState();
  entry.owners -= 1;
  if (entry.owners > 0 || holder[key] !== entry.replacement) return;
  replace(holder, key, entry.original as Holder[Key]);
  if (patches.get(key) === entry) patches.delete(key);
}

/** Keeps the property as it was: enumerable, writable, configurable. */
function replace<Holder extends object, Key extends keyof Holder & string>(
  holder: Holder,
  key: Key,
  value: Holder[Key],
): void {
  const descriptor = Object.getOwnPropertyDescriptor(holder, key);
  Object.defineProperty(holder, key, {
    value,
    writable: true,
    configurable: true,
    enumerable: descriptor?.enumerable ?? true,
  });
}
