import { type Exchange, jsonReply, Refusal, type Reply, readJson } from '../server/exchange.ts';
import { isObject } from '../server/json.ts';
import { newId } from '../world/random.ts';
import type { World } from '../world/world.ts';
import { demandKnown } from './errors.ts';
import type { Files } from './files.ts';

const largestFile = 2 * 1024 ** 3;
/** Every chunk but the last is a multiple of this. */
const granularity = 256 * 1024;

interface OpenUpload {
  account: string;
  displayName: string | undefined;
  mimeType: string;
  declared: number;
  chunks: Buffer[];
  received: number;
}

/** Google's resumable uploads: a start, then bytes at offsets until one request finalizes them. */
export function createUploads(world: World, files: Files) {
  const open = new Map<string, OpenUpload>();

  async function start({ account, headers, body, origin }: Exchange): Promise<Reply> {
    const { file = {}, ...others } = await readJson(body);
    demandKnown(others, [], '');
    if (!isObject(file)) throw new Refusal(400, "Invalid value at 'file'");
    demandKnown(file, ['name', 'displayName', 'display_name', 'mimeType', 'sizeBytes'], 'file');
    const declared = Number(headers['x-goog-upload-header-content-length']);
    if (!Number.isInteger(declared)) throw new Refusal(400, 'The size of the upload is missing.');
    const { bytesPerBatch = largestFile } = world.settings.limits.google ?? {};
    if (declared > bytesPerBatch) throw new Refusal(400, 'The file is too large.');
    const mimeType = String(headers['x-goog-upload-header-content-type'] ?? file.mimeType ?? '');
    const displayName = file.displayName ?? file.display_name;
    const id = newId('AAANRVm_');
    open.set(id, {
      account,
      displayName: typeof displayName === 'string' ? displayName : undefined,
      mimeType,
      declared,
      chunks: [],
      received: 0,
    });
    const query = `upload_id=${id}&upload_protocol=resumable`;
    return {
      status: 200,
      headers: {
        'x-goog-upload-url': `${origin}/upload/v1beta/files?${query}`,
        'x-goog-upload-status': 'active',
        'x-goog-upload-chunk-granularity': String(granularity),
      },
      body: '',
    };
  }

  async function receive(exchange: Exchange, id: string, commands: string[]): Promise<Reply> {
    const upload = open.get(id);
    if (upload === undefined || upload.account !== exchange.account) {
      throw new Refusal(404, 'Upload not found.');
    }
    const offset = Number(exchange.headers['x-goog-upload-offset']);
    if (offset !== upload.received) {
      throw new Refusal(400, `Upload offset ${offset} is not the ${upload.received} received.`);
    }
    const isLast = commands.includes('finalize');
    const before = upload.received;
    for await (const chunk of exchange.body) {
      upload.chunks.push(chunk);
      upload.received += chunk.length;
    }
    if (!isLast && (upload.received - before) % granularity !== 0) {
      open.delete(id);
      throw new Refusal(400, `A chunk must be a multiple of ${granularity} bytes.`);
    }
    if (!isLast) return status('active');
    open.delete(id);
    if (upload.received !== upload.declared) {
      throw new Refusal(400, `${upload.declared} bytes were announced, ${upload.received} came.`);
    }
    const { account, displayName, mimeType, chunks } = upload;
    const stored = files.add({ account, displayName, mimeType, chunks, isOutput: false });
    const reply = jsonReply({ file: files.show(stored) });
    return { ...reply, headers: { ...reply.headers, 'x-goog-upload-status': 'final' } };
  }

  return async (exchange: Exchange): Promise<Reply> => {
    const { headers, query } = exchange;
    const command = String(headers['x-goog-upload-command'] ?? '');
    const commands = command.split(',').map((word) => word.trim());
    const id = query.get('upload_id');
    if (id !== null && commands.includes('upload')) return receive(exchange, id, commands);
    if (commands.includes('start') && headers['x-goog-upload-protocol'] === 'resumable') {
      return start(exchange);
    }
    throw new Refusal(400, `Invalid upload command "${command}".`);
  };
}

function status(word: string): Reply {
  return { status: 200, headers: { 'x-goog-upload-status': word }, body: '' };
}
