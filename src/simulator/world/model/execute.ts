import type { SimulatedProvider } from '../../providers.ts';
import type { JsonObject } from '../../server/json.ts';
import type { Outcome } from '../batches/batch.ts';
import type { TierRules } from '../tiers/tier-rules.ts';
import type { PromptCacheSettings } from '../usage/cache-settings.ts';
import type { Prefix } from '../usage/prompt-cache.ts';
import { type SpentAnswer, spend } from '../usage/spend.ts';
import { type SimulatedUsage, usageOf } from '../usage/usage.ts';
import type { World } from '../world.ts';
import { type Content, contentFor, type Demand } from './content.ts';
import { markedOutcome, meterExecution } from './meter-execution.ts';
import { modelOf } from './model-of.ts';
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
  /** An answer that tells this usage in the provider's words. Missing: it is left as it is. */
  tellUsage?(
    endpoint: string,
    answer: JsonObject,
    usage: SimulatedUsage,
    model: string,
  ): JsonObject;
  /** What the provider's cache may keep of a prompt, from short to long. Missing: nothing. */
  prefixes?(endpoint: string, body: JsonObject, model: string, limits: CacheLimits): Prefix[];
  /** The service tiers of ordinary calls. Missing: there is one only. */
  tiers?: TierRules;
}

export type CacheLimits = Pick<PromptCacheSettings, 'minimum' | 'automatic'>;

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
  /** What is billed. */
  tier: string;
  /** A stranger's request is answered but not metered. */
  foreign: boolean;
}

export interface Executed {
  outcome: Outcome;
  /** Headers of the reply, where it stands in no batch. */
  headers?: Record<string, string>;
  /** What happens to the result line on top of its outcome. */
  spoiled: 'missing' | 'broken' | 'double' | 'both' | 'foreign' | null;
  inputTokens: number;
  outputTokens: number;
  /** An answer function has given the whole body: it is left as it is. */
  isGiven: boolean;
}

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
  const finish = (result: SpentAnswer | Outcome) =>
    meterExecution(world, dialect, job, n, result, marker);
  if (refused !== null) return finish(refused);

  const { answer, usage } = world.settings;
  // Counting costs memory for each prompt; only functions ask for it.
  const isCounted = answer !== null || typeof usage === 'function';
  const asked = isCounted ? world.promptCounts.count(provider, endpoint, body, prompt) : 1;
  const mode = batchId === null ? 'realtime' : 'batch';
  const request = { provider, endpoint, model, body, prompt, asked, mode, tier: job.tier } as const;
  const spent = (said: DialectAnswer | Outcome) =>
    'kind' in said ? said : spend(world, dialect, job, request, n, said);
  const ordinary = () => spent(ordinaryAnswer(dialect, job, answerText(prompt, model, n), n));
  if (answer === null || job.foreign) return finish(ordinary());
  // A reset drops answer functions that are still at work.
  return world.clock.unlessStopped(askFunction(answer, request)).then((scripted) => {
    if (scripted.kind === 'body') return finish(givenAnswer(scripted.body, dialect, job));
    const said = scriptedAnswer(scripted, dialect, job, n);
    return finish(said === null ? ordinary() : spent(said));
  });
}

function refuseModel({ settings }: World, dialect: Dialect, job: Job): Outcome | null {
  const model = modelOf(dialect, job);
  if (job.foreign) return null;
  return settings.models?.includes(model) === false ? dialect.unknownModel(model) : null;
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

/** A body that was given tells its own usage. */
function givenAnswer(given: JsonObject, dialect: Dialect, { endpoint, body }: Job): SpentAnswer {
  const inputTokens = dialect.inputTokens(endpoint, body);
  const outputTokens = estimateTokens(given);
  const usage = usageOf({ input: inputTokens, output: outputTokens });
  const encoded = dialect.encode(endpoint, body, given);
  return { body: encoded, inputTokens, outputTokens, usage, isGiven: true };
}

function scriptedAnswer(
  scripted: Exclude<Scripted, { kind: 'body' }>,
  dialect: Dialect,
  { endpoint, body }: Job,
  n: number,
): DialectAnswer | Outcome | null {
  switch (scripted.kind) {
    case 'ordinary':
      return null;
    case 'refused':
      return scripted.outcome;
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
