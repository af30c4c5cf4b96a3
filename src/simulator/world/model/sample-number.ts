import type { JsonObject } from '../../server/json.ts';

/** 1, or what comes closest to it within the bounds; `nth` makes the items of a list differ. */
export function sampleNumber(schema: JsonObject, nth: number): number {
  const { type, minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf } = schema;
  const above = numberOr(exclusiveMinimum, Number.NEGATIVE_INFINITY);
  const below = numberOr(exclusiveMaximum, Number.POSITIVE_INFINITY);
  const step = numberOr(multipleOf, type === 'integer' ? 1 : 0);
  // Between two numbers there is always another, unless only steps count.
  const margin = step > 0 ? step : Math.min(1, (below - above) / 2);
  const least = Math.max(numberOr(minimum, Number.NEGATIVE_INFINITY), above + margin);
  const most = Math.min(numberOr(maximum, Number.POSITIVE_INFINITY), below - margin);
  const wanted = Math.min(Math.max(1 + nth, least), most);
  if (step === 0) return wanted;
  const rounded = Math.ceil(wanted / step) * step;
  return rounded <= most ? rounded : Math.floor(most / step) * step;
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
