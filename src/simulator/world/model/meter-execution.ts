import { createHash } from 'node:crypto';
import type { JsonObject } from '../../server/json.ts';
import type { Outcome } from '../batches/batch.ts';
import type { Execution } from '../meter.ts';
import type { SpentAnswer } from '../usage/spend.ts';
import { noUsage } from '../usage/usage.ts';
import type { World } from '../world.ts';
import type { Dialect, Executed, Job } from './execute.ts';
import type { Marker } from './markers.ts';
import { modelOf } from './model-of.ts';

const unbilled = { inputTokens: 0, outputTokens: 0, usage: noUsage };

/** Meters what became of a request. */
export function meterExecution(
  world: World,
  dialect: Dialect,
  job: Job,
  n: number,
  result: SpentAnswer | Outcome,
  marker: Marker | null,
): Executed {
  const { account: key, batchId, customId, endpoint, body, tier, foreign } = job;
  const answer = 'kind' in result ? null : result;
  const spoiled = answer === null ? null : spoilOf(marker);
  const billed = answer !== null && spoiled !== 'missing' && spoiled !== 'broken';
  const { inputTokens, outputTokens, usage } = billed ? answer : unbilled;
  if (!foreign) {
    const { meterBodies } = world.settings;
    const execution: Execution = {
      provider: dialect.provider,
      key,
      batchId,
      customId,
      endpoint,
      model: modelOf(dialect, job),
      body: meterBodies ? body : null,
      // Few tests look at it; hashing every body would cost all of them.
      get bodyHash() {
        return meterBodies ? hashOf(body) : null;
      },
      tier,
      inputTokens,
      outputTokens,
      usage,
      n,
    };
    (billed ? world.meter.executions : world.meter.failures).push(execution);
  }
  const outcome: Outcome = 'kind' in result ? result : { kind: 'answered', body: result.body };
  return { outcome, spoiled, inputTokens, outputTokens, isGiven: answer?.isGiven === true };
}

function hashOf(body: JsonObject): string {
  return createHash('sha256').update(JSON.stringify(body)).digest('hex');
}

export function markedOutcome(marker: Marker | null): Outcome | null {
  switch (marker?.kind) {
    case 'status':
      if (marker.status === 200) return null;
      return {
        kind: 'refused',
        status: marker.status,
        message: `simulated status ${marker.status}`,
        ...(marker.code !== undefined && { code: marker.code }),
      };
    case 'empty':
    case 'unstated':
    case 'expired':
    case 'canceled':
      return { kind: marker.kind };
    default:
      return null;
  }
}

function spoilOf(marker: Marker | null): Executed['spoiled'] {
  switch (marker?.kind) {
    case 'missing':
    case 'broken':
    case 'double':
    case 'both':
    case 'foreign':
      return marker.kind;
    default:
      return null;
  }
}
