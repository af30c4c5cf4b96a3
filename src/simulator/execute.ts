import type { Outcome } from './batch.ts';
import type { JsonObject } from './json.ts';
import type { Marker } from './markers.ts';
import type { Execution } from './meter.ts';
import type { World } from './world.ts';

/** How one provider reads and answers a request body, batched or not. */
export interface Dialect {
  provider: string;
  prompt(endpoint: string, body: JsonObject): string;
  /** What the provider would refuse about this body, or null. */
  check(endpoint: string, body: JsonObject): Outcome | null;
  answer(endpoint: string, body: JsonObject, n: number): DialectAnswer;
}

export interface DialectAnswer {
  body: JsonObject;
  inputTokens: number;
  outputTokens: number;
}

export interface Job {
  account: string;
  batchId: string | null;
  customId: string | null;
  endpoint: string;
  body: JsonObject;
  /** A stranger's request is answered but not metered. */
  foreign: boolean;
}

export interface Executed {
  outcome: Outcome;
  /** What happens to the result line on top of its outcome. */
  spoiled: 'missing' | 'broken' | 'double' | 'both' | 'foreign' | null;
  inputTokens: number;
  outputTokens: number;
}

const unbilled = { inputTokens: 0, outputTokens: 0 };

/** Lets the simulated model work on one request, and meters it. */
export function execute(world: World, dialect: Dialect, job: Job): Executed {
  const { account: key, batchId, customId, endpoint, body } = job;
  const n = world.meter.nextExecution();
  const marker = world.markers.read(dialect.prompt(endpoint, body), body);
  const refused = dialect.check(endpoint, body) ?? markedOutcome(marker);
  const answer = refused === null ? dialect.answer(endpoint, body, n) : null;
  const spoiled = answer === null ? null : spoilOf(marker);
  const billed = answer !== null && spoiled !== 'missing' && spoiled !== 'broken';
  const { inputTokens, outputTokens } = billed ? answer : unbilled;
  if (!job.foreign) {
    const execution: Execution = {
      provider: dialect.provider,
      key,
      batchId,
      customId,
      endpoint,
      model: typeof body.model === 'string' ? body.model : '',
      body: world.settings.meterBodies ? body : null,
      inputTokens,
      outputTokens,
      n,
    };
    (billed ? world.meter.executions : world.meter.failures).push(execution);
  }
  const outcome: Outcome = refused ?? { kind: 'answered', body: answer?.body };
  return { outcome, spoiled, inputTokens, outputTokens };
}

function markedOutcome(marker: Marker | null): Outcome | null {
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
