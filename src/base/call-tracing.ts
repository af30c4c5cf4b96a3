/** What a tracer is told when a call has its answer. */
export interface AnsweredCall {
  readonly status: number;
  readonly source: string;
  readonly batch?: string;
  readonly lane?: string;
  readonly dollars?: { readonly paid: number; readonly saved: number };
}

/** What tracing adds to the walk of a call. `batchling/otel` sets one; without it nothing of this runs. */
export interface CallTracer {
  /** Called where the call was made, so that its trace is the one that is active. */
  captured(call: object, headers: Readonly<Record<string, string>>): void;
  answered(call: object, event: AnsweredCall): void;
  /** The W3C `traceparent` of the place that a call came from. */
  traceparentOf(call: object): string | undefined;
  /** Does it without a trace of ours: requests of batchling's are no work of the program. */
  untraced<T>(work: () => T): T;
}

const key = Symbol.for('batchling.tracing');

/** One for all copies of the package in this process, so that the entries of any of them meet. */
export const tracing: { tracer: CallTracer | undefined } = holder();

function holder(): { tracer: CallTracer | undefined } {
  const shared = globalThis as { [key]?: { tracer: CallTracer | undefined } };
  const found = shared[key];
  if (found) return found;
  const made = { tracer: undefined };
  // Not enumerable: a program that lists its globals does not notice.
  Object.defineProperty(globalThis, key, { value: made });
  return made;
}

/** Does it without a trace of the program's, if there is a tracer. */
export function untraced<T>(work: () => T): T {
  return tracing.tracer ? tracing.tracer.untraced(work) : work();
}

/** A batch names no more traces than this: most receivers of spans keep 128 links. */
const mostTraces = 32;

/** The `traceparent` of these calls, each trace once, the first to ask first. */
export function tracesOf(calls: Iterable<object>): readonly string[] | undefined {
  const { tracer } = tracing;
  if (tracer === undefined) return undefined;
  const traces = new Map<string, string>();
  for (const call of calls) {
    const traceparent = tracer.traceparentOf(call);
    const trace = traceparent?.slice(3, 35);
    if (traceparent === undefined || trace === undefined || traces.has(trace)) continue;
    traces.set(trace, traceparent);
    if (traces.size === mostTraces) break;
  }
  return traces.size === 0 ? undefined : [...traces.values()];
}
