import type { Meter } from '@opentelemetry/api';
import type { BatchlingEvents } from '../orchestrator/events/events.ts';
import { modelAttributes } from './batch-spans.ts';

const minute = 60;
const hour = 60 * minute;

/** As the conventions recommend. */
const tokenBuckets = Array.from({ length: 14 }, (_, power) => 4 ** power);
const durationBuckets = [
  ...[1, 5, 15, 30].map((minutes) => minutes * minute),
  ...[1, 2, 4, 8, 12, 24, 48].map((hours) => hours * hour),
];

/** A reason may be a text of a provider's: after so many, further ones count as `other`. */
const mostReasons = 20;

/** The metrics, as functions by the event that they count. */
export function metricsOn(meter: Meter) {
  const tokens = meter.createHistogram('gen_ai.client.token.usage', {
    description: 'Tokens of an answer.',
    unit: '{token}',
    advice: { explicitBucketBoundaries: tokenBuckets },
  });
  const durations = meter.createHistogram('batchling.batch.duration', {
    description: 'How long a batch took, from its acceptance until it was collected.',
    unit: 's',
    advice: { explicitBucketBoundaries: durationBuckets },
  });
  const counter = (name: string, unit: string, description: string) =>
    meter.createCounter(name, { unit, description });
  const paid = counter('batchling.dollars.paid', 'USD', 'Dollars at list prices, with discounts.');
  // A batch without a rate for cached input may cost more: a counter would drop what is below zero.
  const saved = meter.createUpDownCounter('batchling.dollars.saved', {
    unit: 'USD',
    description: 'Dollars that ordinary calls would have cost more.',
  });
  const bypassed = counter(
    'batchling.calls.bypassed',
    '{call}',
    'LLM calls that were not batched.',
  );
  const retried = counter(
    'batchling.requests.retried',
    '{request}',
    'Requests that were tried again.',
  );
  const reasons = new Set<string>();
  const known = (reason: string) => {
    if (reasons.size < mostReasons) reasons.add(reason);
    return reasons.has(reason) ? reason : 'other';
  };
  return {
    answered(event: BatchlingEvents['call:answered']): void {
      const { source, inputTokens, outputTokens, dollars } = event;
      const attributes = { ...modelAttributes(event), 'batchling.source': source };
      for (const [type, count] of [
        ['input', inputTokens],
        ['output', outputTokens],
      ] as const) {
        if (count !== undefined) tokens.record(count, { ...attributes, 'gen_ai.token.type': type });
      }
      if (dollars === undefined) return;
      paid.add(dollars.paid, attributes);
      saved.add(dollars.saved, attributes);
    },
    batchOver(event: BatchlingEvents['batch:collected'] | BatchlingEvents['batch:ended']): void {
      if (event.age === undefined) return;
      const failure = 'failure' in event ? event.failure : undefined;
      durations.record(event.age / 1_000, {
        ...modelAttributes(event),
        ...(failure !== undefined && { 'error.type': failure }),
      });
    },
    bypassed({ reason }: BatchlingEvents['call:bypassed']): void {
      bypassed.add(1, { 'batchling.reason': known(reason) });
    },
    retried(event: BatchlingEvents['request:retried']): void {
      retried.add(1, { ...modelAttributes(event), 'batchling.reason': known(event.reason) });
    },
  };
}
