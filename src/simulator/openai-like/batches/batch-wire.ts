import { countLines, toChunks } from '../../server/lines.ts';
import type { Batch, BatchStore } from '../../world/batches/batch.ts';
import type { BatchWire } from '../../world/batches/batch-wire.ts';
import type { World } from '../../world/world.ts';
import type { OpenAILike } from '../description.ts';
import { batchDialect } from '../dialect.ts';
import type { Files, NewFile } from '../files/files.ts';
import type { OpenAIBatch } from './details.ts';
import { resultLine } from './result-line.ts';
import { sendEvent } from './send-event.ts';
import { validateLines } from './validate-lines.ts';

export function createWire(
  world: World,
  like: OpenAILike,
  files: Files,
  store: BatchStore<OpenAIBatch>,
): BatchWire<OpenAIBatch> {
  const isReadEarly = () => world.settings.earlyResults || like.earlyResults === true;
  return {
    failsAsWhole: true,
    isReadEarly,
    dialect: () => batchDialect(like),
    resultLine: (_batch, customId, outcome) => resultLine(like, customId, outcome),

    async prepare(batch) {
      const { details } = batch;
      if (files.find(details.inputFileId, batch.account) === undefined) {
        batch.requests = countLines(details.input);
        const message = `The input file ${details.inputFileId} was deleted.`;
        return { errors: [{ code: 'input_file_deleted', message, line: null, param: null }] };
      }
      const models = batch.foreign ? null : world.settings.models;
      const validated = await validateLines(world, like, details, models);
      if ('errors' in validated) batch.requests = countLines(details.input);
      details.input = [];
      if ('errors' in validated) return validated;
      batch.requests = validated.lines.length;
      details.model = validated.model;
      const limit = world.settings.limits[like.name]?.enqueuedTokens ?? Number.POSITIVE_INFINITY;
      const waiting = store
        .all()
        .filter((other) => other.account === batch.account && other.phase !== 'ended')
        .filter((other) => other.details.model === details.model)
        .reduce((sum, other) => sum + other.details.enqueuedTokens, 0);
      if (!batch.foreign && waiting + validated.tokens > limit) {
        return { errors: [tokenLimitError(validated.model, limit)] };
      }
      details.enqueuedTokens = validated.tokens;
      return validated.lines;
    },

    ended(batch) {
      const { webhook } = world.settings;
      if (like.name === 'openai' && webhook && batch.phase === 'ended') sendEvent(webhook, batch);
    },

    started(batch) {
      if (!isReadEarly()) return;
      batch.details.outputFileId = files.add(resultFile(world, batch, 'output', [])).id;
    },

    answered({ details }, line) {
      if (details.outputFileId === null) return;
      files.append(details.outputFileId, Buffer.from(`${line}\n`));
    },

    async publish(batch) {
      const { zeroByteErrorFile } = world.settings;
      const failedLinesInOutput = world.settings.failedLinesInOutput || like.failedLinesInOutput;
      const { details } = batch;
      const { answered, failed } = batch.results;
      const write = async (name: string, lines: string[]) =>
        files.add(resultFile(world, batch, name, await toChunks(lines, world.clock))).id;
      const output = failedLinesInOutput ? [...answered, ...failed] : answered;
      const errors = failedLinesInOutput ? [] : failed;
      // An output file that was shown early lacks nothing but the failures.
      const early = details.outputFileId;
      if (early !== null && failedLinesInOutput) {
        for (const line of failed) files.append(early, Buffer.from(`${line}\n`));
      }
      if (output.length > 0) details.outputFileId ??= await write('output', output);
      if (errors.length > 0 || zeroByteErrorFile || like.alwaysErrorFile) {
        details.errorFileId = await write('error', errors);
      }
    },
  };
}

function resultFile(
  world: World,
  batch: Batch<OpenAIBatch>,
  name: string,
  chunks: Buffer[],
): NewFile {
  const { account, id, script, details } = batch;
  const lifetime = details.outputLifetime;
  return {
    account,
    filename: `${id}_${name}.jsonl`,
    purpose: 'batch_output',
    chunks,
    readsNotFound: script.resultsNotFoundReads ?? world.settings.resultsNotFoundReads,
    ...(lifetime === null ? {} : { lifetime }),
  };
}

function tokenLimitError(model: string, limit: number) {
  const message =
    `Enqueued token limit reached for ${model} in organization org-simulator. ` +
    `Limit: ${limit} enqueued tokens. Please try again once some in_progress batches have ` +
    'been completed.';
  return { code: 'token_limit_exceeded', message, line: null, param: null };
}
