import { fields, text } from '../../base/json.ts';
import type { Counts } from '../../base/types.ts';
import type { Wire } from '../../http/wire.ts';
import type { Remote } from '../batcher.ts';
import { toRemote } from '../openai/openai-remote.ts';

/**
 * Together's batch object in our words. It has `error`, a text, where OpenAI has a list, and a percentage in
 * place of counts.
 */
export function toTogetherRemote(
  batch: unknown,
  wire: Pick<Wire, 'redact'>,
  count: number | undefined,
): Remote {
  const { error, progress, ...rest } = fields(batch);
  const reason = text(error);
  const output = text(rest.output_file_id);
  // Where the batch as a whole was refused, its error file has nothing that the reason does not say.
  const isRefused = reason !== undefined && output === undefined && isFailed(rest.status);
  const remote = toRemote(
    {
      ...rest,
      errors: reason,
      ...(isRefused && { error_file_id: undefined }),
      // No request was begun, so no result file is waited for.
      request_counts: progress === 0 ? { completed: 0 } : undefined,
    },
    wire,
  );
  const { counts: _, ...shown } = remote;
  const counts = remote.state === 'ended' ? undefined : countsOf(progress, count);
  return counts === undefined ? shown : { ...shown, counts };
}

function isFailed(status: unknown): boolean {
  return text(status)?.toLowerCase() === 'failed';
}

/** The counts to display while the batch runs. At its end only lines count: a percentage proves nothing. */
function countsOf(progress: unknown, count: number | undefined): Counts | undefined {
  if (count === undefined || typeof progress !== 'number' || !Number.isFinite(progress)) {
    return undefined;
  }
  const share = Math.min(100, Math.max(0, progress)) / 100;
  return { total: count, completed: Math.round(share * count), failed: 0 };
}
