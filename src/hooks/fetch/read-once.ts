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
  const plain: Options = isPlain(options, isInScope ? readInScope : readAlways)
    ? (options as Options)
    : copyOf(options as Options);
  const headers = isInScope ? listed(plain.headers) : plain.headers;
  if (plain === options && headers === plain.headers) return call;
  return [input, headers === undefined ? plain : { ...plain, headers }, ...call.slice(2)];
}

function copyOf(options: Options): Options {
  const copy: Record<string, unknown> = {};
  // Other libraries' wrappers of fetch have options of their own.
  for (const name of new Set([...names, ...Object.keys(options)])) {
    const value = options[name];
    if (value !== undefined) copy[name] = value;
  }
  return copy;
}

/** Headers that come out of an iterator or a generator, which can be read only once, as a list. */
function listed(headers: unknown): unknown {
  if (typeof headers !== 'object' || headers === null) return headers;
  if (headers instanceof Headers || Array.isArray(headers)) return headers;
  if (!(Symbol.iterator in headers)) return headers;
  return Array.from(headers as Iterable<unknown>, (pair) =>
    typeof pair === 'object' && pair !== null && Symbol.iterator in pair
      ? [...(pair as Iterable<unknown>)]
      : pair,
  );
}

function isPlain(options: object, read: readonly string[]): boolean {
  if (types.isProxy(options)) return false;
  const prototype: unknown = Object.getPrototypeOf(options);
  if (prototype !== Object.prototype && prototype !== null) return false;
  return read.every((name) => Object.getOwnPropertyDescriptor(options, name)?.get === undefined);
}
