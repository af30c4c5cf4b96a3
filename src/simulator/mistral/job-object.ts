import { statusOf } from '../openai-like/batches/batch-object.ts';
import type { JsonObject } from '../server/json.ts';
import { type Batch, namesResults } from '../world/batches/batch.ts';
import type { SimulatorSettings } from '../world/settings.ts';
import type { World } from '../world/world.ts';
import { mistralDescription } from './description.ts';
import type { MistralJob } from './details.ts';

/** The job of the wire. */
export function jobObject({ settings }: World, batch: Batch<MistralJob>): JsonObject {
  const { details, reachedAt, ending } = batch;
  const named = namesResults(batch);
  const errorFile = named ? details.errorFile : null;
  return {
    id: batch.id,
    object: 'batch',
    input_files: details.inputFiles,
    metadata: details.metadata,
    endpoint: details.endpoint,
    model: details.model,
    agent_id: null,
    output_file: named ? details.outputFile : null,
    error_file: errorFile ?? (settings.emptyErrorFileId ? '' : null),
    errors: errorsOf(batch),
    outputs: null,
    status: statusOf(mistralDescription, batch),
    created_at: seconds(batch.createdAt),
    started_at: seconds(reachedAt.in_progress),
    completed_at: ending === null ? null : seconds(reachedAt[ending]),
    ...countsOf(batch, settings),
  };
}

/** Messages and how often they came up; which lines they are about is not said. */
function errorsOf({ errors, details }: Batch<MistralJob>): JsonObject[] {
  const ofLines = [...details.failures].map(([message, count]) => ({ message, count }));
  return [...errors.map(({ message }) => ({ message, count: 1 })), ...ofLines];
}

function countsOf(batch: Batch, settings: SimulatorSettings): JsonObject {
  const { total, counts, ending } = batch;
  const names = ['total', 'completed', 'succeeded', 'failed'].map((name) => `${name}_requests`);
  const show = (numbers: readonly (number | null)[]) =>
    Object.fromEntries(names.map((name, at) => [name, numbers[at]]));
  if (settings.nullRequestCounts) return show([null, null, null, null]);
  if (settings.wrongRequestCounts && ending !== null) return show([total, total, total, 0]);
  const { succeeded, errored } = counts;
  return show([total, succeeded + errored, succeeded, errored]);
}

function seconds(milliseconds: number | undefined): number | null {
  return milliseconds === undefined ? null : Math.floor(milliseconds / 1000);
}
