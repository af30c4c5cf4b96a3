import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import {
  metrics as globalMetrics,
  type MeterProvider,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import { tracing } from '../base/call-tracing.ts';
import { version } from '../base/version.ts';
import type { BatchlingEventName, BatchlingEvents } from '../orchestrator/events/events.ts';
import { BatchSpans, writeStep } from './batch-spans.ts';
import { CallSpans } from './call-spans.ts';
import { metricsOn } from './metrics.ts';
import { quietly } from './quietly.ts';

/**
 * Where spans and metrics go; the providers that are registered globally, unless others are given.
 *
 * @example
 * import { trace } from '@opentelemetry/api';
 * import type { InstrumentOptions } from 'batchling/otel';
 *
 * const options: InstrumentOptions = { tracerProvider: trace.getTracerProvider() };
 */
export interface InstrumentOptions {
  readonly tracerProvider?: TracerProvider | undefined;
  readonly meterProvider?: MeterProvider | undefined;
}

/**
 * Writes a span for each batch when it is over, metrics, and what became of a call onto the span that was active where it
 * was made, with a link to its batch. Call it once, before the first scope; the function that it returns undoes it.
 *
 * @example
 * import { instrument } from 'batchling/otel';
 *
 * const stop = instrument();
 */
export function instrument(options: InstrumentOptions = {}): () => void {
  const { tracerProvider = trace, meterProvider = globalMetrics } = options;
  const tracer = tracerProvider.getTracer('batchling', version);
  const metrics = metricsOn(meterProvider.getMeter('batchling', version));
  const batches = new BatchSpans(tracer);
  const calls = new CallSpans((batch) => batches.placeOf(batch));
  tracing.tracer = calls;
  const stops = [
    hear('call:answered', metrics.answered),
    hear('call:bypassed', metrics.bypassed),
    hear('request:retried', metrics.retried),
    hear('batch:step', (event) => writeStep(tracer, event, Date.now())),
    hear('batch:collected', (event) => {
      batches.collected(event, Date.now());
      metrics.batchOver(event);
    }),
    hear('batch:ended', (event) => {
      batches.ended(event, Date.now());
      // One without a failure is collected yet, and counted then.
      if (event.failure !== undefined) metrics.batchOver(event);
    }),
  ];
  return () => {
    for (const stop of stops) stop();
    if (tracing.tracer === calls) tracing.tracer = undefined;
  };
}

function hear<Name extends BatchlingEventName>(
  name: Name,
  listener: (event: BatchlingEvents[Name]) => void,
): () => void {
  const channel = `batchling:${name}`;
  const heard = (event: unknown) => quietly(() => listener(event as BatchlingEvents[Name]));
  subscribe(channel, heard);
  return () => void unsubscribe(channel, heard);
}
