import { isObject, type JsonObject } from '../server/json.ts';

const day = 24 * 3_600_000;

/** Together's batch object, made of OpenAI's. Fields that say nothing are left out. */
export function jobOf(batch: JsonObject): JsonObject {
  const createdAt = Number(batch.created_at) * 1000;
  const endedAt =
    batch.completed_at ?? batch.failed_at ?? batch.expired_at ?? batch.cancelled_at ?? undefined;
  const fields = {
    id: batch.id,
    user_id: 'user-simulator',
    input_file_id: batch.input_file_id,
    status: batch.status,
    job_deadline: isoDate(createdAt + day),
    created_at: isoDate(createdAt),
    completed_at: endedAt === undefined ? undefined : isoDate(Number(endedAt) * 1000),
    endpoint: batch.endpoint,
    progress: progressOf(batch.request_counts),
    model_id: batch.model,
    output_file_id: batch.output_file_id,
    error_file_id: batch.error_file_id,
    error: errorOf(batch.errors),
  };
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  );
}

function progressOf(counts: unknown): number | undefined {
  if (!isObject(counts)) return undefined;
  const total = Number(counts.total);
  return total === 0 ? 0 : (100 * (Number(counts.completed) + Number(counts.failed))) / total;
}

/** A text, without the line it is about. */
function errorOf(errors: unknown): unknown {
  const list = isObject(errors) ? errors.data : errors;
  const [first]: unknown[] = Array.isArray(list) ? list : [];
  return isObject(first) ? first.message : undefined;
}

function isoDate(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
