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
  if (!isPatched(holder, key)) {
    const original = holder[key];
    const inherited = !Object.hasOwn(holder, key);
    replace(holder, key, wrap(original));
    patches.set(holder[key] as object, { original, owners: 0, inherited });
  }
  const replacement = holder[key];
  const entry = patches.get(replacement as object) as Patch;
  entry.owners += 1;
  let undone = false;
  return () => {
    if (undone) return;
    undone = true;
    entry.owners -= 1;
    if (entry.owners > 0 || holder[key] !== replacement) return;
    if (entry.inherited) delete (holder as Partial<Holder>)[key];
    else replace(holder, key, entry.original as Holder[Key]);
  };
}

/** Whether what is there now was put there by us, by this copy of the package or another. */
export function isPatched<Holder extends object>(holder: Holder, key: keyof Holder): boolean {
  const value = holder[key];
  return typeof value === 'function' && sharedState().patches.has(value);
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
