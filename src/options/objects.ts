import type { Dispatcher } from 'undici';
import type { Clock, Logger } from '../base/types.ts';
import { type Form, refuse, refuseUnseen } from './form.ts';

function hasMethods(value: unknown, names: readonly string[]): boolean {
  const kind = typeof value;
  if (value === null || (kind !== 'object' && kind !== 'function')) return false;
  return names.every((name) => typeof Reflect.get(value as object, name) === 'function');
}

export const logger: Form<Logger> = {
  allowed: 'an object with the methods debug, info, warn and error',
  parse: (value) =>
    hasMethods(value, ['debug', 'info', 'warn', 'error']) ? (value as Logger) : refuse(value),
};

export const clock: Form<Clock> = {
  allowed: 'an object with the methods now, setTimeout and clearTimeout',
  parse: (value) =>
    hasMethods(value, ['now', 'setTimeout', 'clearTimeout']) ? (value as Clock) : refuse(value),
};

export const dispatcher: Form<Dispatcher> = {
  allowed: 'an undici Dispatcher (an object with the methods dispatch and request)',
  parse: (value) =>
    hasMethods(value, ['dispatch', 'request']) ? (value as Dispatcher) : refuseUnseen(),
};

// `instanceof` would fail here: polyfills and other realms have their own class.
export const signal: Form<AbortSignal> = {
  allowed: 'an AbortSignal',
  parse: (value) => {
    const listens = hasMethods(value, ['addEventListener', 'removeEventListener']);
    if (!listens || typeof (value as AbortSignal).aborted !== 'boolean') refuse(value);
    return value as AbortSignal;
  },
};

const silence = (): void => {};
export const silentLogger: Logger = {
  debug: silence,
  info: silence,
  warn: silence,
  error: silence,
};
