import {
  context,
  createContextKey,
  isSpanContextValid,
  type Span,
  type SpanContext,
  trace,
} from '@opentelemetry/api';
import type { AnsweredCall, CallTracer } from '../base/call-tracing.ts';
import { quietly } from './quietly.ts';

/** Every copy of OpenTelemetry's core knows this key: instrumentation and propagation leave what has it alone. */
const suppressTracing = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

interface TracedCall {
  readonly traceparent: string;
  /** Missing where only a header names the trace. */
  readonly span: Span | undefined;
}

/** What the calls of one span have cost together: a program may make many within one. */
interface SpanSums {
  calls: number;
  paid: number;
  saved: number;
  /** The batches that the span has a link to. */
  readonly linked: Set<string>;
}

/**
 * Knows in which trace each call was made, and writes what became of it onto the span that was active there. A call gets
 * no span of its own: the program's instrumentation of its SDK has one.
 */
export class CallSpans implements CallTracer {
  readonly #calls = new WeakMap<object, TracedCall>();
  readonly #sums = new WeakMap<Span, SpanSums>();
  readonly #placeOf: (batch: string) => SpanContext | undefined;

  /** `placeOf`: where the span of a batch is, if it has begun. */
  constructor(placeOf: (batch: string) => SpanContext | undefined) {
    this.#placeOf = placeOf;
  }

  captured(call: object, headers: Readonly<Record<string, string>>): void {
    quietly(() => this.#captured(call, headers));
  }

  #captured(call: object, headers: Readonly<Record<string, string>>): void {
    const span = trace.getActiveSpan();
    const spanContext = span?.spanContext();
    if (spanContext && isSpanContextValid(spanContext)) {
      this.#calls.set(call, { traceparent: traceparentFor(spanContext), span });
      return;
    }
    const { traceparent } = headers;
    if (traceparent && contextOf(traceparent))
      this.#calls.set(call, { traceparent, span: undefined });
  }

  answered(call: object, event: AnsweredCall): void {
    quietly(() => this.#answered(call, event));
  }

  #answered(call: object, { source, batch, lane, dollars, status }: AnsweredCall): void {
    const span = this.#calls.get(call)?.span;
    if (!span?.isRecording()) return;
    const sums = this.#sums.get(span) ?? { calls: 0, paid: 0, saved: 0, linked: new Set() };
    this.#sums.set(span, sums);
    sums.calls += 1;
    sums.paid += dollars?.paid ?? 0;
    sums.saved += dollars?.saved ?? 0;
    span.setAttributes({
      'batchling.calls': sums.calls,
      'batchling.source': source,
      'batchling.lane': lane ?? 'batch',
      'batchling.status': status,
      'batchling.dollars.paid': sums.paid,
      'batchling.dollars.saved': sums.saved,
      ...(batch !== undefined && { 'batchling.batch.id': batch }),
    });
    const place = batch === undefined || sums.linked.has(batch) ? undefined : this.#placeOf(batch);
    if (batch === undefined || place === undefined) return;
    sums.linked.add(batch);
    // Spans of an SDK from before 1.9 take links only when they begin.
    if (typeof span.addLink === 'function') span.addLink({ context: place });
  }

  traceparentOf(call: object): string | undefined {
    return this.#calls.get(call)?.traceparent;
  }

  untraced<T>(work: () => T): T {
    return context.with(context.active().setValue(suppressTracing, true), work);
  }
}

function traceparentFor({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** The place that a `traceparent` names; `undefined`: it names none. */
export function contextOf(traceparent: string): SpanContext | undefined {
  const [, traceId, spanId, flags] =
    /^00-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/.exec(traceparent) ?? [];
  if (!traceId || !spanId || !flags) return undefined;
  const found = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(found) ? found : undefined;
}
