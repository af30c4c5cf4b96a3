import { openaiDescription } from '../openai/description.ts';
import { batchObject, statusOf } from '../openai-like/batches/batch-object.ts';
import { type BatchKind, createBatches } from '../openai-like/batches/batches.ts';
import { createDetails, type OpenAIBatch } from '../openai-like/batches/details.ts';
import { resultLine } from '../openai-like/batches/result-line.ts';
import { validateLines } from '../openai-like/batches/validate-lines.ts';
import type { OpenAILike } from '../openai-like/description.ts';
import { batchDialect } from '../openai-like/dialect.ts';
import { invalid, missing } from '../openai-like/errors.ts';
import { type Exchange, Refusal, readJson } from '../server/exchange.ts';
import { countLines, toChunks } from '../server/lines.ts';
import type { BatchWire } from '../world/batches/batch-wire.ts';
import { readsNotFound } from '../world/batches/results.ts';
import { strangersRequests } from '../world/batches/strangers-requests.ts';
import { newId } from '../world/random.ts';
import type { World } from '../world/world.ts';
import type { Objects } from './objects.ts';

/** OpenAI's wire as Bedrock has it: chat completions of OpenAI's models, and no files. */
export const openaiOfBedrock: OpenAILike = {
  ...openaiDescription,
  name: 'bedrock',
  root: '/openai/v1',
  endpoints: ['/v1/chat/completions'],
  createFields: ['input_file_id', 'endpoint', 'completion_window', 'metadata'],
  batchIdPrefix: 'batch-',
  requestIdHeader: 'x-amzn-requestid',
};

export function createOpenAIBatches(world: World, objects: Objects) {
  return createBatches(world, openaiOfBedrock, kindOf(world, objects));
}

function kindOf(world: World, objects: Objects): BatchKind<OpenAIBatch> {
  const like = openaiOfBedrock;
  return {
    wire: () => wireOf(world, objects),
    read: (exchange) => readCreate(exchange, objects),
    sizeOf: ({ input }) => countLines(input),
    foreign(_account, size) {
      const asLine = (id: string, content: string) => {
        const body = { model: 'openai.stranger-1:0', messages: [{ role: 'user', content }] };
        return JSON.stringify({ custom_id: id, method: 'POST', url: like.endpoints[0], body });
      };
      const name = newId('stranger');
      const chunks = [Buffer.from(strangersRequests(size, asLine, name).join('\n'))];
      const id = `s3://strangers/${name}/input.jsonl`;
      return createDetails(like.endpoints[0] as string, { id, chunks });
    },
    show: (batch) => batchObject(world, like, batch),
    unknown: (id) => `No batch found with id '${id}'.`,
    tooLate: (batch) =>
      new Refusal(409, `Cannot cancel a batch with status '${statusOf(like, batch)}'.`),
  };
}

async function readCreate(
  { account, headers, body }: Exchange,
  objects: Objects,
): Promise<OpenAIBatch> {
  const given = await readJson(body);
  const like = openaiOfBedrock;
  const unknown = Object.keys(given).find((name) => !like.createFields.includes(name));
  if (unknown !== undefined) throw invalid(unknown, 'is not a parameter.');
  const { 'x-amzn-bedrock-rolearn': role, 'x-amzn-bedrock-modelid': model } = headers;
  if (!/^arn:aws(-[^:]+)?:iam::\d{12}:role\/.+$/.test(String(role))) {
    throw missing('X-Amzn-Bedrock-RoleArn');
  }
  if (typeof model !== 'string' || model === '') throw missing('X-Amzn-Bedrock-ModelId');
  const { input_file_id: uri, endpoint, completion_window: window, metadata = null } = given;
  if (typeof uri !== 'string' || !/^s3:\/\/[a-z0-9.-]{3,63}\/.+\.jsonl$/.test(uri)) {
    throw invalid('input_file_id', 'must be the URI of an object in S3.');
  }
  if (!like.endpoints.includes(String(endpoint))) throw invalid('endpoint', 'is not one of ours.');
  if (window !== '24h') throw invalid('completion_window', "must be '24h'.");
  const input = objects.find(uri, account);
  if (input === undefined) throw invalid('input_file_id', 'there is no such object.');
  return {
    ...createDetails(String(endpoint), { id: uri, chunks: input.chunks }),
    model,
    metadata: metadata as OpenAIBatch['metadata'],
  };
}

/** Answers and errors go to a folder with the id of the batch, beside its input. */
function wireOf(world: World, objects: Objects): BatchWire<OpenAIBatch> {
  const like = openaiOfBedrock;
  return {
    failsAsWhole: true,
    dialect: () => batchDialect(like),
    resultLine: (_batch, customId, outcome) => resultLine(like, customId, outcome),

    async prepare(batch) {
      const { details } = batch;
      const { leastRequestsPerBatch: least = 100 } = world.settings.limits.bedrock ?? {};
      batch.requests = countLines(details.input);
      const models = batch.foreign ? null : world.settings.models;
      const validated = await validateLines(world, like, details, models);
      details.input = [];
      if ('errors' in validated) return validated;
      const { lines, model } = validated;
      const wrong =
        lines.length < least && !batch.foreign
          ? `The input has fewer than ${least} requests.`
          : details.model !== null && details.model !== model
            ? `The header X-Amzn-Bedrock-ModelId names another model than ${model}.`
            : undefined;
      if (wrong !== undefined) {
        return { errors: [{ code: 'invalid_request', message: wrong, line: null, param: null }] };
      }
      details.model = model;
      return lines;
    },

    async publish(batch) {
      const { account, details, id, results } = batch;
      const folder = details.inputFileId.replace(/[^/]+$/, `${id}/`);
      const name = details.inputFileId.split('/').at(-1) ?? '';
      const write = async (ending: string, lines: readonly string[]) => {
        if (lines.length === 0) return;
        objects.put(`${folder}${name}.${ending}`, {
          account,
          createdAt: world.clock.now(),
          isOutput: true,
          chunks: await toChunks(lines, world.clock),
          readsNotFound: readsNotFound(world, batch),
        });
      };
      await write('out', results.answered);
      await write('err', results.failed);
    },
  };
}
