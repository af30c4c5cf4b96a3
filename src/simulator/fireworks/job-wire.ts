import { readLine } from '../openai-like/batches/validate-lines.ts';
import { batchDialect } from '../openai-like/dialect.ts';
import { isObject, parseJson } from '../server/json.ts';
import { readLines, toChunks } from '../server/lines.ts';
import type { BatchLine, Outcome } from '../world/batches/batch.ts';
import type { BatchError } from '../world/batches/batch-script.ts';
import type { BatchWire } from '../world/batches/batch-wire.ts';
import { readsNotFound } from '../world/batches/results.ts';
import type { World } from '../world/world.ts';
import type { Datasets } from './datasets.ts';
import { fireworksDescription as like } from './description.ts';
import type { FireworksJob } from './job-object.ts';
import { jobName } from './names.ts';

const endpoint = '/v1/chat/completions';
const mostLines = 50_000;

export function createWire(world: World, datasets: Datasets): BatchWire<FireworksJob> {
  return {
    failsAsWhole: true,
    dialect: () => batchDialect(like),
    resultLine: (_batch, customId, outcome) => resultLine(customId, outcome),

    async prepare(batch) {
      const { details, foreign } = batch;
      const models = foreign ? null : world.settings.models;
      if (models?.includes(details.model) === false) {
        return { errors: [{ code: 'x', message: `model ${details.model} is not found` }] };
      }
      const most = world.settings.limits.fireworks?.requestsPerBatch ?? mostLines;
      const lines = linesOf(details, most);
      details.input = [];
      if (!('errors' in lines)) batch.requests = lines.length;
      return lines;
    },

    async publish(batch) {
      const { account, id, details, results } = batch;
      const write = (lines: string[]) => toChunks(lines, world.clock);
      const files = new Map([
        ['BIJOutputSet.jsonl', await write(results.answered)],
        ['error-data', await write(results.failed)],
      ]);
      datasets.add({
        id: details.outputDatasetId,
        account,
        files,
        exampleCount: String(results.answered.length),
        uploadedAt: 0,
        sourceJob: jobName(id),
        readsNotFound: readsNotFound(world, batch),
      });
    },
  };
}

/** One row that is no good fails the whole job; the number of its line is not to be relied on. */
function linesOf(
  { input, model }: FireworksJob,
  most: number,
): BatchLine[] | { errors: BatchError[] } {
  const lines: BatchLine[] = [];
  const ids = new Set<string>();
  for (const { text } of readLines(input)) {
    const read = readRow(text, model);
    if ('code' in read) return invalid(`row validation failed at line 1: ${read.message}`);
    if (ids.has(read.customId)) return invalid('row validation failed: duplicate custom_id');
    ids.add(read.customId);
    lines.push(read);
    if (lines.length > most) return invalid(`the dataset has more than ${most} examples`);
  }
  return lines.length > 0 ? lines : invalid('the dataset is empty');
}

function readRow(text: string, model: string): BatchLine | BatchError {
  const row = parseJson(text);
  if (!isObject(row) || !isObject(row.body)) return readLine(like, text, endpoint);
  if ('model' in row.body) return { code: 'x', message: 'a body names no model' };
  return readLine(like, JSON.stringify({ ...row, body: { ...row.body, model } }), endpoint);
}

function invalid(message: string): { errors: BatchError[] } {
  return { errors: [{ code: 'x', message }] };
}

/** The completion as it is, or an error with a message. What was not run has no line. */
function resultLine(custom_id: string, outcome: Outcome): string | null {
  switch (outcome.kind) {
    case 'answered':
      return JSON.stringify({ custom_id, response: outcome.body });
    case 'empty':
      return JSON.stringify({ custom_id, response: {} });
    case 'refused':
      return JSON.stringify({
        custom_id,
        error: { message: outcome.message, ...(outcome.status > 0 && { code: outcome.status }) },
      });
    case 'unstated':
      return JSON.stringify({ custom_id, error: { message: 'request timed out, try again' } });
    default:
      return null;
  }
}
