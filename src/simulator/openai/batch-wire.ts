import type { BatchStore } from '../batch.ts';
import type { BatchWire } from '../batch-wire.ts';
import { toChunks } from '../lines.ts';
import type { World } from '../world.ts';
import type { OpenAIBatch } from './details.ts';
import { batchDialect } from './dialect.ts';
import type { Files } from './files.ts';
import { resultLine } from './result-line.ts';
import { validateLines } from './validate-lines.ts';

export function createWire(
  world: World,
  files: Files,
  store: BatchStore<OpenAIBatch>,
): BatchWire<OpenAIBatch> {
  return {
    failsAsWhole: true,
    dialect: () => batchDialect,
    resultLine: (_batch, customId, outcome) => resultLine(customId, outcome),

    async prepare(batch) {
      const { details } = batch;
      const validated = await validateLines(world, details);
      details.input = [];
      if ('errors' in validated) return validated;
      details.model = validated.model;
      const limit = world.settings.limits.openai?.enqueuedTokens ?? Number.POSITIVE_INFINITY;
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

    async publish({ account, id, details, results }) {
      const lifetime = details.outputLifetime;
      const write = async (lines: string[], name: string) => {
        if (lines.length === 0) return null;
        const file = files.add({
          account,
          filename: `${id}_${name}.jsonl`,
          purpose: 'batch_output',
          chunks: await toChunks(lines, world.clock),
          readsNotFound: world.settings.resultsNotFoundReads,
          ...(lifetime === null ? {} : { lifetime }),
        });
        return file.id;
      };
      const outputFileId = await write(results.answered, 'output');
      const errorFileId = await write(results.failed, 'error');
      Object.assign(details, { outputFileId, errorFileId });
    },
  };
}

function tokenLimitError(model: string, limit: number) {
  const message =
    `Enqueued token limit reached for ${model} in organization org-simulator. ` +
    `Limit: ${limit} enqueued tokens. Please try again once some in_progress batches have ` +
    'been completed.';
  return { code: 'token_limit_exceeded', message, line: null, param: null };
}
