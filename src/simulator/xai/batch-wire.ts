import { answerChat } from '../openai-like/answers/chat-answer.ts';
import { batchDialect } from '../openai-like/dialect.ts';
import type { Files } from '../openai-like/files/files.ts';
import type { BatchWire } from '../world/batches/batch-wire.ts';
import { readsNotFound } from '../world/batches/results.ts';
import type { Dialect } from '../world/model/execute.ts';
import type { World } from '../world/world.ts';
import { checkLines } from './check-lines.ts';
import { xaiDescription } from './description.ts';
import { resultRow } from './result-row.ts';

const mostLines = 50_000;

/** What only xAI's batches have. */
export interface XaiBatch {
  name: string;
  inputFileId: string;
  /** Rows of the results, as they come. */
  rows: string[];
  /** How many reads of the results still answer 404. */
  readsNotFound: number;
}

const common = batchDialect(xaiDescription);

/** Whatever endpoint a line names, it is answered in the shape of a chat completion. */
const dialect: Dialect = {
  ...common,
  answer: (endpoint, body, content, n) =>
    endpoint === '/v1/responses' && content !== null
      ? answerChat({ ...body, messages: body.input }, content)
      : common.answer(endpoint, body, content, n),
  tellUsage: (_endpoint, answer, usage, model) =>
    common.tellUsage?.('/v1/chat/completions', answer, usage, model) ?? answer,
};

export function createWire(world: World, files: Files): BatchWire<XaiBatch> {
  return {
    failsAsWhole: true,
    dialect: () => dialect,
    resultLine: (_batch, id, outcome) => resultRow(id, outcome),
    filed: ({ details }, row) => details.rows.push(row),

    async prepare(batch) {
      const { settings } = world;
      const { account, details, foreign } = batch;
      details.readsNotFound = readsNotFound(world, batch);
      const file = files.find(details.inputFileId, account);
      if (file === undefined) {
        return { errors: [{ code: 'gone', message: 'The input file was deleted.' }] };
      }
      const most = settings.limits.xai?.requestsPerBatch ?? mostLines;
      return checkLines(file.chunks, most, foreign ? null : settings.models);
    },

    publish: () => Promise.resolve(),
  };
}
