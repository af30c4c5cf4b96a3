import type { SimulatedProvider } from '../../providers.ts';
import type { JsonObject } from '../../server/json.ts';
import type { Outcome } from '../batches/batch.ts';
import type { Execution } from '../meter.ts';
import type { World } from '../world.ts';
import { type Content, contentFor, type Demand } from './content.ts';
import type { Marker } from './markers.ts';
import { answerText, estimateTokens } from './prompt.ts';
import { SchemaError } from './sample-schema.ts';
import { askFunction, type Scripted } from './scripted-answer.ts';

/** How one provider reads and answers a request body, batched or not. */
export interface Dialect {
  provider: SimulatedProvider;
  /** The model that is asked. Missing: the body names it. */
  model?(endpoint: string): string;
  prompt(endpoint: string, body: JsonObject): string;
  /** What the provider would refuse about this body, or null. */
  check(endpoint: string, body: JsonObject): Outcome | null;
  /** What the provider says about a model it does not have. */
  unknownModel(model: string): Outcome;
  /** What the request wants to hear; null where answers say nothing, as embeddings do. */
  demand(endpoint: string, body: JsonObject): Demand | null;
  /** A whole response body that says this; null where answers say nothing. */
  answer(endpoint: string, body: JsonObject, content: Content | null, n: number): DialectAnswer;
  /** A body that was given, in the encoding that the request asks for. */
  encode(endpoint: string, body: JsonObject, answer: JsonObject): JsonObject;
  /** Tokens of the question. */
  inputTokens(endpoint: string, body: JsonObject): number;
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

/** Lets the simulated model work on one request, and meters it. Only an answer function takes time. */
export function execute(world: World, dialect: Dialect, job: Job): Executed | Promise<Executed> {
  const { endpoint, body, batchId } = job;
  const { provider } = dialect;
  const n = world.meter.nextExecution();
  const prompt = dialect.prompt(endpoint, body);
  const model = modelOf(dialect, job);
  const marker = world.markers.read(prompt, body);
  const refused =
    dialect.check(endpoint, body) ?? refuseModel(world, dialect, job) ?? markedOutcome(marker);
  const finish = (result: DialectAnswer | Outcome) => meter(world, dialect, job, n, result, marker);
  if (refused !== null) return finish(refused);

  const { answer } = world.settings;
  const ordinary = () => ordinaryAnswer(dialect, job, answerText(prompt, model, n), n);
  if (answer === null || job.foreign) return finish(ordinary());
  const asked = world.promptCounts.count(provider, endpoint, body, prompt);
  const mode = batchId === null ? 'realtime' : 'batch';
  const request = { provider, endpoint, model, body, prompt, asked, mode } as const;
  // A reset drops answer functions that are still at work.
  return world.clock
    .unlessStopped(askFunction(answer, request))
    .then((scripted) => finish(scriptedAnswer(scripted, dialect, job, n) ?? ordinary()));
}

function refuseModel({ settings }: World, dialect: Dialect, job: Job): Outcome | null {
  const model = modelOf(dialect, job);
  if (job.foreign) return null;
  return settings.models?.includes(model) === false ? dialect.unknownModel(model) : null;
}

function modelOf({ model }: Dialect, { endpoint, body }: Job): string {
  if (model !== undefined) return model(endpoint);
  return typeof body.model === 'string' ? body.model : '';
}

function ordinaryAnswer(
  dialect: Dialect,
  { endpoint, body }: Job,
  text: string,
  n: number,
): DialectAnswer | Outcome {
  try {
    const demand = dialect.demand(endpoint, body);
    const content = demand === null ? null : contentFor(demand, text);
    return dialect.answer(endpoint, body, content, n);
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    return { kind: 'refused', status: 500, message: error.message };
  }
}

function scriptedAnswer(
  scripted: Scripted,
  dialect: Dialect,
  { endpoint, body }: Job,
  n: number,
): DialectAnswer | Outcome | null {
  switch (scripted.kind) {
    case 'ordinary':
      return null;
    case 'refused':
      return scripted.outcome;
    case 'body': {
      const inputTokens = dialect.inputTokens(endpoint, body);
      const outputTokens = estimateTokens(scripted.body);
      return { body: dialect.encode(endpoint, body, scripted.body), inputTokens, outputTokens };
    }
    case 'content':
      if (dialect.demand(endpoint, body) !== null) {
        return dialect.answer(endpoint, body, scripted.content, n);
      }
      return {
        kind: 'refused',
        status: 500,
        message: `The simulator's answer function returned a text for ${endpoint}, whose answers have none: return a response body, or undefined.`,
      };
  }
}

function meter(
  world: World,
  dialect: Dialect,
  job: Job,
  n: number,
  result: DialectAnswer | Outcome,
  marker: Marker | null,
): Executed {
  const { account: key, batchId, customId, endpoint, body, foreign } = job;
  const answer = 'kind' in result ? null : result;
  const spoiled = answer === null ? null : spoilOf(marker);
  const billed = answer !== null && spoiled !== 'missing' && spoiled !== 'broken';
  const { inputTokens, outputTokens } = billed ? answer : unbilled;
  if (!foreign) {
    const execution: Execution = {
      provider: dialect.provider,
      key,
      batchId,
      customId,
      endpoint,
      model: modelOf(dialect, job),
      body: world.settings.meterBodies ? body : null,
      inputTokens,
      outputTokens,
      n,
    };
    (billed ? world.meter.executions : world.meter.failures).push(execution);
  }
  const outcome: Outcome = 'kind' in result ? result : { kind: 'answered', body: result.body };
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
