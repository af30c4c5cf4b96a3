import { readLine } from '../openai-like/batches/validate-lines.ts';
import type { OpenAILike, ProviderParts } from '../openai-like/description.ts';
import { receiveUpload } from '../openai-like/files/upload.ts';
import { jsonReply, Refusal } from '../server/exchange.ts';
import { readLines } from '../server/lines.ts';
import type { Handler } from '../world/provider.ts';

/**
 * Stores a file if each of its lines is good; otherwise the first bad one is named. An account has no two files
 * of one name.
 */
export function checkedUpload({ world, like, files }: ProviderParts): Handler {
  const idByName = new Map<string, string>();
  return async (exchange) => {
    const { account } = exchange;
    const limit = world.settings.limits[like.name]?.bytesPerBatch ?? like.bytesPerBatch;
    const upload = await receiveUpload(exchange, limit, like);
    checkLines(like, upload.chunks, world.settings.models);
    const name = JSON.stringify([account, upload.filename]);
    if (files.find(idByName.get(name) ?? '', account) !== undefined) {
      throw new Refusal(400, `A file with the name '${upload.filename}' already exists.`);
    }
    const file = files.add({ ...upload, account });
    idByName.set(name, file.id);
    return jsonReply(files.show(file), like.uploadStatus);
  };
}

function checkLines(like: OpenAILike, chunks: readonly Buffer[], models: readonly string[] | null) {
  let lines = 0;
  for (const { line, text } of readLines(chunks)) {
    const read = readLine(like, text, like.endpoints[0] as string);
    if ('code' in read) throw new Refusal(400, `Error on line ${line}: ${read.message}`);
    const model = String(read.body.model);
    if (models?.includes(model) === false) {
      throw new Refusal(403, `Model '${model}' has not been configured or is not accessible.`);
    }
    lines += 1;
  }
  if (lines === 0) throw new Refusal(400, 'The file holds no request.');
}
