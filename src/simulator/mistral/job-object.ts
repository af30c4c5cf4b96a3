import { batchObject } from '../openai-like/batches/batch-object.ts';
import type { JsonObject } from '../server/json.ts';
import type { Batch } from '../world/batches/batch.ts';
import type { SimulatorSettings } from '../world/settings.ts';
import type { World } from '../world/world.ts';
import { mistralDescription } from './description.ts';
import type { MistralJob } from './details.ts';

/** The job of the wire, made of OpenAI's batch. */
export function jobObject(world: World, batch: Batch<MistralJob>): JsonObject {
  const { details, ending } = batch;
  const shown = batchObject(world, mistralDescription, batch);
  return {
    id: batch.id,
    object: 'batch',
    input_files: details.inputFiles,
    metadata: details.metadata,
    endpoint: details.endpoint,
    model: details.model,
    agent_id: null,
    output_file: shown.output_file_id,
    error_file: shown.error_file_id,
    errors: errorsOf(batch),
    outputs: null,
    status: shown.status,
    created_at: shown.created_at,
    started_at: shown.in_progress_at,
    completed_at: ending === null ? null : shown[`${ending}_at`],
    ...countsOf(batch, world.settings),
  };
}

/** Messages and how often they came up; which lines they are about is not said. */
function errorsOf({ errors, details }: Batch<MistralJob>): JsonObject[] {
  const ofLines = [...details.failures].map(([message, count]) => ({ message, count }));
  return [...errors.map(({ message }) => ({ message, count: 1 })), ...ofLines];
}

function countsOf({ total, counts, ending }: Batch, settings: SimulatorSettings): JsonObject {
  const isWrong = settings.wrongRequestCounts && ending !== null;
  const succeeded = isWrong ? total : counts.succeeded;
  const failed = isWrong ? 0 : counts.errored;
  const numbers = {
    total_requests: total,
    completed_requests: succeeded + failed,
    succeeded_requests: succeeded,
    failed_requests: failed,
  };
  if (!settings.nullRequestCounts) return numbers;
  return Object.fromEntries(Object.keys(numbers).map((name) => [name, null]));
}
