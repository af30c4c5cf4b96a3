import type { ProviderInfo } from '../batchers/provider-info.ts';
import { notShown, show } from './shown-value.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** What a parser may use besides the value. */
export interface ParseContext {
  readonly environment: Environment;
  /** The built-in provider names and those of the user's own batchers. */
  knownProviders(): readonly string[];
  /** What is known of a provider; `undefined`: this version has no batches for it. */
  infoOf(provider: string): ProviderInfo | undefined;
}

/** How values of one kind are checked and read from text. */
export interface Form<Value> {
  /** What is allowed, for messages and docs. */
  readonly allowed: string;
  /** What stands for a value in a line of help: `duration`, `error|continue`. */
  readonly placeholder?: string;
  /** Checks and converts; throws `Refused`. */
  parse(value: unknown, context: ParseContext): Value;
  /** Turns the text of a variable into what `parse` takes. Without it the option has no variable. */
  read?(text: string): unknown;
}

/** A value that its option does not allow. `resolveOptions` turns it into `INVALID_OPTION`. */
export class Refused extends Error {
  readonly shown: string;
  readonly detail: string | undefined;

  constructor(shown: string, detail?: string) {
    super(detail ?? shown);
    this.shown = shown;
    this.detail = detail;
  }
}

export function refuse(value: unknown, detail?: string): never {
  throw new Refused(show(value), detail);
}

/** Like `refuse`, for values that could hold a credential. */
export function refuseUnseen(detail?: string): never {
  throw new Refused(notShown, detail);
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return Object.prototype.toString.call(value) === '[object Object]';
}

/** `"a=1,b=2"` as an object. `divider`: which `=` separates key and value, because either may hold one. */
export function readPairs(text: string, divider: 'first' | 'last'): Record<string, string> {
  const pairs = new Map<string, string>();
  for (const part of text.split(',').map((piece) => piece.trim())) {
    if (part === '') continue;
    const at = divider === 'first' ? part.indexOf('=') : part.lastIndexOf('=');
    if (at < 1) refuse(part, 'a pair is written key=value');
    const key = part.slice(0, at).trim();
    if (pairs.has(key)) refuse(key, 'given twice');
    pairs.set(key, part.slice(at + 1).trim());
  }
  return Object.fromEntries(pairs);
}
