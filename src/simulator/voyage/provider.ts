import { createBatches } from '../openai-like/batches/batches.ts';
import { checkCreate } from '../openai-like/batches/check-create.ts';
import type { OpenAIBatch } from '../openai-like/batches/details.ts';
import { openaiKind } from '../openai-like/batches/openai-kind.ts';
import { missing } from '../openai-like/errors.ts';
import { createFiles } from '../openai-like/files/files.ts';
import { describedProvider, onlineRoutes } from '../openai-like/provider.ts';
import { batchRoutes, fileRoutes } from '../openai-like/routes.ts';
import { Refusal, readJson } from '../server/exchange.ts';
import { isObject, type JsonObject, parseJson } from '../server/json.ts';
import { readLines } from '../server/lines.ts';
import type { Provider } from '../world/provider.ts';
import type { World } from '../world/world.ts';
import { voyageDescription } from './description.ts';

/** Voyage. A create carries the parameters of all its lines, which hold texts alone. */
export function createVoyage(world: World): Provider {
  const like = voyageDescription;
  const files = createFiles(world, like);
  const batches = createBatches(world, like, {
    ...openaiKind(world, like, files),
    async read({ account, body }) {
      const json = await readJson(body);
      const details = checkCreate(like, json, (id) => files.findInput(id, account));
      const { request_params: params } = json;
      if (!isObject(params)) throw missing('request_params');
      if (typeof params.model !== 'string') throw missing('request_params.model');
      const misplaced = textsOf(details.endpoint).find((name) => name in params);
      if (misplaced) throw new Refusal(400, `${misplaced} belongs into the lines of the file`);
      return withParams(details, params);
    },
  });
  return describedProvider(like, batches, [
    ...fileRoutes('/v1/files', files),
    ...batchRoutes('/v1/batches', batches),
    ...onlineRoutes(world, like),
  ]);
}

const texts: Record<string, readonly string[]> = {
  '/v1/contextualizedembeddings': ['inputs'],
  '/v1/rerank': ['documents', 'query'],
};

/** What the lines of a batch hold, and nothing else. */
function textsOf(endpoint: string): readonly string[] {
  return texts[endpoint] ?? ['input'];
}

/** Its lines as an ordinary call would have them. A line with anything but texts is left as bad as it is. */
function withParams(details: OpenAIBatch, params: JsonObject): OpenAIBatch {
  const named = textsOf(details.endpoint).join();
  const lines = [...readLines(details.input)].map(({ text }) => {
    const line = parseJson(text);
    const isBare =
      isObject(line) && isObject(line.body) && Object.keys(line.body).toSorted().join() === named;
    if (!isBare) return text;
    return JSON.stringify({ ...line, body: { ...params, ...(line.body as JsonObject) } });
  });
  return { ...details, input: [Buffer.from(`${lines.join('\n')}\n`)] };
}
