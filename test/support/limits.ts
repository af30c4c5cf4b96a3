/** A signal that a timer aborts, as far as it is allowed to. */
export interface Limit {
  readonly signal: AbortSignal;
  /** The timer has fired. */
  readonly struck: Promise<void>;
  /** The name of the error that calls end with which are not captured. */
  readonly errorName: 'AbortError' | 'TimeoutError';
}

const milliseconds = 20;

function byController(): Limit {
  const controller = new AbortController();
  const struck = new Promise<void>((resolve) =>
    setTimeout(() => {
      controller.abort();
      resolve();
    }, milliseconds),
  );
  return { signal: controller.signal, struck, errorName: 'AbortError' };
}

/** What a signal was joined of; Node alone would not keep it. */
const sources = new WeakMap<AbortSignal, AbortSignal[]>();

function joined(): AbortSignal {
  const parts = [AbortSignal.timeout(milliseconds), new AbortController().signal];
  const signal = AbortSignal.any(parts);
  sources.set(signal, parts);
  return signal;
}

function native(signal: AbortSignal): Limit {
  const struck = new Promise<void>((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  );
  return { signal, struck, errorName: 'TimeoutError' };
}

/** All ways to limit a call by a signal that it is given itself. */
export const limits: readonly (readonly [name: string, start: () => Limit])[] = [
  ['a timer of its own', byController],
  ['AbortSignal.timeout', () => native(AbortSignal.timeout(milliseconds))],
  ['AbortSignal.any around it', () => native(joined())],
];
