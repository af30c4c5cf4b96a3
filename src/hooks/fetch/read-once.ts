import { types } from 'node:util';

/** The options of fetch, in the order in which Node reads them. */
const names = [
  'method',
  'headers',
  'body',
  'referrer',
  'referrerPolicy',
  'mode',
  'credentials',
  'cache',
  'redirect',
  'integrity',
  'keepalive',
  'signal',
  'window',
  'duplex',
  'dispatcher',
] as const;

/** What we read of every call, and what a scope reads, too. */
const readAlways = ['signal'];
const readInScope = ['signal', 'method', 'headers', 'body', 'dispatcher'];

type Options = Readonly<Record<string, unknown>>;

/**
 * The arguments of a fetch, whose options can be read twice without anybody noticing. Options that run
 * code when they are read (a getter, a Proxy, an instance of a class) are copied, which reads them once.
 */
export function readOnce(call: readonly unknown[], isInScope: boolean): readonly unknown[] {
  const [input, options] = call;
  if (typeof options !== 'object' || options === null) return call;
  if (isPlain(options, isInScope ? readInScope : readAlways)) return call;
  const copy: Record<string, unknown> = {};
  // Other libraries' wrappers of fetch have options of their own.
  for (const name of new Set([...names, ...Object.keys(options)])) {
    const value = (options as Options)[name];
    if (value !== undefined) copy[name] = value;
  }
  return [input, copy, ...call.slice(2)];
}

function isPlain(options: object, read: readonly string[]): boolean {
  if (types.isProxy(options)) return false;
  const prototype: unknown = Object.getPrototypeOf(options);
  if (prototype !== Object.prototype && prototype !== null) return false;
  return read.every((name) => Object.getOwnPropertyDescriptor(options, name)?.get === undefined);
}
