import {
  type Attributes,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { BatchFacts, BatchlingEvents } from '../orchestrator/events/events.ts';
import { contextOf } from './call-spans.ts';
import { operationName, providerName } from './semantic-names.ts';

type Collected = BatchlingEvents['batch:collected'];
type Ended = BatchlingEvents['batch:ended'];
type Step = BatchlingEvents['batch:step'];

/** Attributes that all spans and metrics of a model have in common. */
export function modelAttributes({
  provider,
  endpoint,
  model,
}: Pick<BatchFacts, 'provider' | 'endpoint' | 'model'>): Attributes {
  return {
    'gen_ai.operation.name': operationName(endpoint, model),
    'gen_ai.provider.name': providerName(provider),
    'gen_ai.request.model': model,
  };
}

/**
 * The spans of batches, written when they are over, with the times that they really had. One is begun when its batch has
 * ended at the provider, so that calls can link to it while their answers are read. It is exported when it ends: what a
 * process has begun and not finished is written by the one that collects the batch.
 */
export class BatchSpans {
  readonly #tracer: Tracer;
  readonly #begun = new Map<string, Span>();

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  /** The place of a batch that has ended, for links. */
  placeOf(batch: string): SpanContext | undefined {
    return this.#begun.get(batch)?.spanContext();
  }

  /** Refused as a whole, or about to be collected. */
  ended(event: Ended, now: number): void {
    const span = this.#begin(event, now);
    if (event.failure === undefined) return;
    markFailed(span, event.failure);
    this.#end(event, now);
  }

  collected(event: Collected, now: number): void {
    const { answered, failed, inputTokens, outputTokens, dollars } = event;
    this.#begin(event, now).setAttributes({
      'batchling.batch.answered': answered,
      'batchling.batch.failed': failed,
      ...(inputTokens !== undefined && { 'gen_ai.usage.input_tokens': inputTokens }),
      ...(outputTokens !== undefined && { 'gen_ai.usage.output_tokens': outputTokens }),
      ...(dollars && {
        'batchling.dollars.paid': dollars.paid,
        'batchling.dollars.saved': dollars.saved,
      }),
    });
    this.#end(event, now);
  }

  #begin(event: Collected | Ended, now: number): Span {
    const begun = this.#begun.get(event.batch);
    if (begun) return begun;
    const span = this.#tracer.startSpan(
      `batch ${event.model}`,
      {
        kind: SpanKind.CLIENT,
        root: true,
        startTime: now - (event.age ?? 0),
        attributes: batchAttributes(event),
        links: linksTo(event.traces),
      },
      ROOT_CONTEXT,
    );
    this.#begun.set(event.batch, span);
    return span;
  }

  #end({ batch }: Collected | Ended, now: number): void {
    const span = this.#begun.get(batch);
    this.#begun.delete(batch);
    span?.end(now);
  }
}

/** A short span in the trace that asked first, for each try of an upload or a create. */
export function writeStep(tracer: Tracer, event: Step, now: number): void {
  const { step, took, ago, failure } = event;
  const end = now - ago;
  const asked = event.traces?.[0];
  const place = asked === undefined ? undefined : contextOf(asked);
  const parent = place ? trace.setSpanContext(ROOT_CONTEXT, place) : ROOT_CONTEXT;
  const span = tracer.startSpan(
    `${step} batch ${event.model}`,
    { kind: SpanKind.CLIENT, startTime: end - took, attributes: batchAttributes(event) },
    parent,
  );
  if (failure !== undefined) markFailed(span, failure);
  span.end(end);
}

function markFailed(span: Span, failure: string): void {
  span.setAttribute('error.type', failure);
  span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
}

function batchAttributes(event: BatchFacts): Attributes {
  const { batch, remoteId, count } = event;
  return {
    ...modelAttributes(event),
    'batchling.batch.id': batch,
    'batchling.batch.requests': count,
    'batchling.lane': 'batch',
    ...(remoteId !== undefined && { 'batchling.batch.remote_id': remoteId }),
  };
}

function linksTo(traces: readonly string[] = []): Link[] {
  return traces.flatMap((traceparent) => {
    const place = contextOf(traceparent);
    return place ? [{ context: place }] : [];
  });
}
