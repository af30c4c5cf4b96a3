import type { Refused } from '../batches/batch.ts';
import type { SimulatedRequest } from '../model/answer-function.ts';
import type { Dialect, DialectAnswer, Job } from '../model/execute.ts';
import type { World } from '../world.ts';
import type { CacheUse } from './prompt-cache.ts';
import { type SimulatedUsage, usageInPrompt, usageOf } from './usage.ts';

/** An answer that tells what it has used. */
export interface SpentAnswer extends DialectAnswer {
  usage: SimulatedUsage;
  /** The whole body was given by an answer function. */
  isGiven?: true;
}

/** Counts what an answer has used, which writes to the prompt cache, and lets the answer tell it. */
export function spend(
  world: World,
  dialect: Dialect,
  job: Job,
  request: SimulatedRequest,
  n: number,
  answer: DialectAnswer,
): SpentAnswer | Refused {
  const { endpoint, body } = job;
  const cached = useCache(world, dialect, job, request.model, n);
  const counted = { input: answer.inputTokens, output: answer.outputTokens, ...cached };
  const geo = typeof body.inference_geo === 'string' ? { inferenceGeo: body.inference_geo } : {};
  const wanted = settingFor(world, request);
  if (wanted instanceof Error) {
    const message = `The simulator's usage function failed: ${wanted.message}`;
    return { kind: 'refused', status: 500, message };
  }
  const asked = { ...geo, ...wanted, ...usageInPrompt(request.prompt) };
  const usage = usageOf(counted, asked);
  return {
    inputTokens: usage.input,
    outputTokens: usage.output,
    usage,
    body: dialect.tellUsage?.(endpoint, answer.body, usage, request.model) ?? answer.body,
  };
}

function settingFor(
  { settings: { usage } }: World,
  request: SimulatedRequest,
): Partial<SimulatedUsage> | Error | null | undefined {
  if (typeof usage !== 'function') return usage;
  try {
    return usage(request);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function useCache(
  { promptCache, settings, clock }: World,
  dialect: Dialect,
  { account, batchId, endpoint, body, foreign }: Job,
  model: string,
  n: number,
): Partial<CacheUse> {
  const { hits, minimum, automatic } = settings.promptCache;
  if (foreign || dialect.prefixes === undefined) return {};
  const prefixes = dialect.prefixes(endpoint, body, model, { minimum, automatic });
  if (prefixes.length === 0) return {};
  const side = batchId === null ? 'realtime' : 'batch';
  const place = [dialect.provider, account, side, model].join(' ');
  return promptCache.use({ place, batchId, n, now: clock.now() }, prefixes, hits);
}
