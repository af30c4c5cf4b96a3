import { invariant } from '../../../base/errors.ts';
import type { Answer, Dict } from '../../../base/types.ts';

/** Answers that lie together in one row. All of them have the same status. */
export interface AnswerBlock {
  readonly status: number;
  /** The headers of the first one; the others say what is different: nearly always just an id. */
  readonly headers: Dict;
  /** Two lengths for each answer, then its own headers as JSON and its body, one after the other. */
  readonly bytes: Uint8Array;
}

/** `null`: has none of this name. */
type OwnHeaders = Record<string, string | null>;

const LENGTH_BYTES = 4;
const UTF8_BYTES_PER_CHARACTER = 3;
const KEPT_BYTES = 1_000_000;

let scratch = Buffer.allocUnsafeSlow(0);

/** The bytes are valid until the next call: they are copied into the database right away. */
export function encodeBlock(answers: readonly [Answer, ...Answer[]]): AnswerBlock {
  const [{ status, headers: shared }] = answers;
  const ownHeaders = answers.map(({ headers }) => difference(shared, headers));
  let room = answers.length * 2 * LENGTH_BYTES;
  answers.forEach(({ body }, index) => {
    room += ((ownHeaders[index] as string).length + body.length) * UTF8_BYTES_PER_CHARACTER;
  });
  const buffer = bufferOf(room);
  let end = answers.length * 2 * LENGTH_BYTES;
  let at = 0;
  const append = (text: string) => {
    const length = buffer.write(text, end);
    end += length;
    at = buffer.writeUInt32LE(length, at);
  };
  answers.forEach(({ body }, index) => {
    append(ownHeaders[index] as string);
    append(body);
  });
  return { status, headers: shared, bytes: buffer.subarray(0, end) };
}

/** The answer at `place` of a block of `count`. */
export function decodeAnswer(block: AnswerBlock, place: number, count: number): Answer {
  const { buffer, byteOffset, byteLength } = block.bytes;
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  const lengthAt = (index: number) => bytes.readUInt32LE(index * LENGTH_BYTES);
  let start = count * 2 * LENGTH_BYTES;
  for (let index = 0; index < place * 2; index += 1) start += lengthAt(index);
  const middle = start + lengthAt(place * 2);
  const end = middle + lengthAt(place * 2 + 1);
  invariant(end <= byteLength, 'A stored answer is longer than the block it lies in');
  return {
    status: block.status,
    headers: combined(block.headers, bytes.toString('utf8', start, middle)),
    // A string of its own: a part of the block's text would keep all of that in memory.
    body: bytes.toString('utf8', middle, end),
  };
}

function bufferOf(size: number): Buffer {
  if (size > KEPT_BYTES) return Buffer.allocUnsafeSlow(size);
  if (scratch.length < size) scratch = Buffer.allocUnsafeSlow(Math.min(size * 2, KEPT_BYTES));
  return scratch;
}

function difference(shared: Dict, headers: Dict): string {
  if (headers === shared) return '';
  const own: OwnHeaders = {};
  let same = true;
  for (const name in headers) {
    if (headers[name] === shared[name]) continue;
    own[name] = headers[name] as string;
    same = false;
  }
  for (const name in shared) {
    if (Object.hasOwn(headers, name)) continue;
    own[name] = null;
    same = false;
  }
  return same ? '' : JSON.stringify(own);
}

function combined(shared: Dict, difference: string): Dict {
  if (difference === '') return shared;
  const own = JSON.parse(difference) as OwnHeaders;
  // Nearly always it is an id that is different.
  if (!difference.includes('null')) return { ...shared, ...(own as Dict) };
  const all = Object.entries({ ...shared, ...own });
  return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== null));
}
