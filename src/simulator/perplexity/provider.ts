import { createBatches } from '../openai-like/batches/batches.ts';
import { checkCreate } from '../openai-like/batches/check-create.ts';
import { openaiKind } from '../openai-like/batches/openai-kind.ts';
import { readLine } from '../openai-like/batches/validate-lines.ts';
import { createFiles } from '../openai-like/files/files.ts';
import { receiveUpload } from '../openai-like/files/upload.ts';
import { describedProvider } from '../openai-like/provider.ts';
import { answerRealtime } from '../openai-like/realtime.ts';
import { batchRoutes, fileRoutes } from '../openai-like/routes.ts';
import { type Exchange, jsonReply, Refusal, type Reply, readJson } from '../server/exchange.ts';
import { isObject, type JsonObject, parseJson } from '../server/json.ts';
import { readLines } from '../server/lines.ts';
import type { Provider, Route } from '../world/provider.ts';
import type { World } from '../world/world.ts';
import { perplexityDescription as like } from './description.ts';

const mostLines = 50_000;

/** Perplexity. Lines are checked at the upload, and a create that repeats a key is answered with the first batch. */
export function createPerplexity(world: World): Provider {
  const files = createFiles(world, like);
  const batches = createBatches(world, like, {
    ...openaiKind(world, like, files),
    async read({ account, body }) {
      const json = await readJson(body);
      const details = checkCreate(like, json, (id) => files.findInput(id, account));
      const lines = [...readLines(details.input)].map(({ text }) => withModel(text));
      return { ...details, input: [Buffer.from(`${lines.join('\n')}\n`)] };
    },
  });
  const created = new Map<string, string>();

  async function create(exchange: Exchange): Promise<Reply> {
    const { account, headers } = exchange;
    const { 'idempotency-key': key } = headers;
    const name = JSON.stringify([account, key]);
    const known = key === undefined ? undefined : created.get(name);
    if (known !== undefined) return batches.get(exchange, known);
    const reply = await batches.create(exchange);
    created.set(name, JSON.parse(String(reply.body)).id);
    return reply;
  }

  async function upload(exchange: Exchange): Promise<Reply> {
    const limit = world.settings.limits.perplexity?.bytesPerBatch ?? like.bytesPerBatch;
    const file = await receiveUpload(exchange, limit, like);
    checkLines(file.chunks);
    return jsonReply(files.show(files.add({ ...file, account: exchange.account })));
  }

  const answer = answerRealtime(world, like, '/v1/responses', {
    read: async ({ body }) => named(await readJson(body)),
  });
  const online = ['/v1/agent', '/v1/responses'].map((path): Route => ['POST', path, answer]);
  return describedProvider(like, batches, [
    ['POST', '/v1/files', upload],
    ...fileRoutes('/v1/files', files),
    ...batchRoutes('/v1/batches', { ...batches, create }),
    ...online,
  ]);
}

function checkLines(chunks: readonly Buffer[]): void {
  let lines = 0;
  for (const { line, text } of readLines(chunks)) {
    const read = readLine(like, withModel(text), '/v1/agent');
    if ('code' in read) throw new Refusal(400, `line ${line}: ${read.message}`);
    lines += 1;
  }
  if (lines === 0) throw new Refusal(400, 'The file holds no request.');
  if (lines > mostLines) throw new Refusal(400, `The file has more than ${mostLines} lines.`);
}

function withModel(text: string): string {
  const line = parseJson(text);
  if (!isObject(line) || !isObject(line.body)) return text;
  return JSON.stringify({ ...line, body: named(line.body) });
}

/** A body may name a chain of models or a preset in place of a model. */
function named(body: JsonObject): JsonObject {
  const [first]: unknown[] = Array.isArray(body.models) ? body.models : [];
  const model = first ?? body.model ?? body.preset;
  return model === undefined ? body : { ...body, model };
}
