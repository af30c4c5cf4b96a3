import { BatchlingError } from '../base/errors.ts';
import { addOwner } from './add-owner.ts';
import { type Patch, sharedState } from './state.ts';

/**
 * The one place that replaces a global. Owners are counted, so that two users of one patch do not
 * undo each other. Another library may wrap the same global later: then the next patch wraps its
 * wrapper, and the undo restores the global only if our wrapper is still the current value.
 *
 * @param name of the global for messages: `globalThis.fetch`.
 * @returns the undo of this owner; calling it twice is fine.
 */
export function patch<Holder extends object, Key extends keyof Holder & string>(
  holder: Holder,
  key: Key,
  wrap: (original: Holder[Key]) => Holder[Key],
  name: string = key,
): () => void {
  const { patches } = sharedState();
  if (!isPatched(holder, key)) {
    const original = holder[key];
    const before = Object.getOwnPropertyDescriptor(holder, key);
    const wrapper = wrap(original);
    if (!replace(holder, key, wrapper, before)) throw locked(name);
    resemble(wrapper as object, original as object);
    patches.set(wrapper as object, { original, before, owners: 0 });
  }
  const replacement = holder[key];
  const entry = patches.get(replacement as object) as Patch;
  return addOwner(entry, () => {
    // Where the global was locked meanwhile the wrapper stays, and passes everything on without a scope.
    if (holder[key] === replacement) restore(holder, key, entry);
  });
}

/** Whether the current value is a wrapper of ours, by this copy of the package or another. */
export function isPatched<Holder extends object>(holder: Holder, key: keyof Holder): boolean {
  const value = holder[key];
  return typeof value === 'function' && sharedState().patches.has(value);
}

/** Keeps the attributes of the property, except that an accessor becomes a value until the undo. */
function replace<Holder extends object, Key extends keyof Holder & string>(
  holder: Holder,
  key: Key,
  value: Holder[Key],
  before: PropertyDescriptor | undefined,
): boolean {
  const { enumerable = true, configurable = true, writable = true } = before ?? {};
  const descriptor = { value, enumerable, configurable, writable };
  // A property that cannot be redefined may still have a setter.
  return Reflect.defineProperty(holder, key, descriptor) || assign(holder, key, value);
}

function restore(holder: object, key: string, { original, before }: Patch): void {
  if (before === undefined) Reflect.deleteProperty(holder, key);
  else if (before.set && !before.configurable) assign(holder, key, original);
  else Reflect.defineProperty(holder, key, before);
}

function assign(holder: object, key: string, value: unknown): boolean {
  try {
    return Reflect.set(holder, key, value) && Reflect.get(holder, key) === value;
  } catch {
    return false;
  }
}

/**
 * Makes a wrapper look like the function it wraps. It inherits from that function, so that marks of
 * tracers and mocks (`fetch.mock`) are visible on it; properties set on the wrapper stay on it.
 */
export function resemble(wrapper: object, original: object): void {
  for (const name of ['name', 'length']) {
    const descriptor = Object.getOwnPropertyDescriptor(original, name);
    if (descriptor) Object.defineProperty(wrapper, name, descriptor);
  }
  Object.setPrototypeOf(wrapper, original);
}

function locked(name: string): BatchlingError {
  return new BatchlingError(
    'GLOBAL_LOCKED',
    `batchling cannot put its hook in place: ${name} is locked. Something that was loaded earlier has ` +
      'frozen it or made it read-only: a hardening tool, a sandbox, or the preset of a test runner. ' +
      'Load batchling before it (node --import batchling/register), or open the scope with ' +
      '{ hooks: false } and give your client fetch: scope.fetch.',
    { facts: { global: name } },
  );
}

/** Whether a hook could not be installed because the global is frozen or read-only. */
export function isGlobalLocked(error: unknown): error is BatchlingError {
  return BatchlingError.isInstance(error) && error.code === 'GLOBAL_LOCKED';
}
