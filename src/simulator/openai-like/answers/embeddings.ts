import { createHash } from 'node:crypto';
import { isObject, type JsonObject } from '../../server/json.ts';
import type { DialectAnswer } from '../../world/model/execute.ts';
import { estimateTokens } from '../../world/model/prompt.ts';
import { createRandom } from '../../world/random.ts';

const standardDimensions = 8;

export function embed(body: JsonObject, n: number): DialectAnswer {
  const dimensions = Number(body.dimensions ?? standardDimensions);
  const inputs = inputsOf(body.input);
  const inputTokens = estimateTokens(inputs);
  const data = inputs.map((input, index) => {
    const vector = vectorOf(input, dimensions, n);
    const embedding = body.encoding_format === 'base64' ? toBase64(vector) : vector;
    return { object: 'embedding', index, embedding };
  });
  const usage = { prompt_tokens: inputTokens, total_tokens: inputTokens };
  return {
    inputTokens,
    outputTokens: 0,
    body: { object: 'list', data, model: String(body.model), usage },
  };
}

/** Official clients ask for base64 unless told otherwise; answer functions return numbers. */
export function encodeEmbeddings(request: JsonObject, answer: JsonObject): JsonObject {
  if (request.encoding_format !== 'base64' || !Array.isArray(answer.data)) return answer;
  const data = answer.data.map((item) =>
    isObject(item) && isVector(item.embedding)
      ? { ...item, embedding: toBase64(item.embedding) }
      : item,
  );
  return { ...answer, data };
}

function isVector(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((number) => typeof number === 'number');
}

/** A string, strings, one list of tokens, or lists of tokens. */
export function inputsOf(input: unknown): unknown[] {
  if (!Array.isArray(input)) return [input];
  return typeof input[0] === 'number' ? [input] : input;
}

/** The vector has unit length. The same input gives nearly the same one, but no two executions agree. */
export function vectorOf(input: unknown, dimensions: number, n: number): number[] {
  const digest = createHash('sha256')
    .update(JSON.stringify(input) ?? '')
    .digest();
  const random = createRandom(digest.readUInt32LE(0));
  const raw = Array.from({ length: dimensions }, () => random.next() - 0.5);
  raw[0] = (raw[0] ?? 0) + ((n * 0.618) % 1) / 1000;
  const length = Math.hypot(...raw) || 1;
  return raw.map((value) => value / length);
}

function toBase64(vector: number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}
