import { createHash } from 'node:crypto';
import { field, isGiven, type JsonObject } from '../../base/json.ts';
import { estimateInput } from '../../pricing/token-estimate.ts';
import type { Expectation, Route } from '../batcher.ts';

type CacheWrites = Pick<Expectation, 'cacheWriteTokens' | 'cacheWrite1hTokens' | 'cachePrefix'>;

/** A change of one of these makes another prompt of the same text. */
const partsOfPrompt = ['tool_choice', 'thinking', 'output_config', 'output_format'] as const;

/**
 * The tokens that a request asks to be cached: everything up to its last `cache_control`, in the order in
 * which Claude reads it. All of them count as written: requests of one batch run together, so that none
 * reads what another one has written.
 */
export function cacheWrites({ body }: Pick<Route, 'body'>, json: JsonObject): CacheWrites {
  if (!body.includes('"cache_control"')) return {};
  const written = { cacheWriteTokens: 0, cacheWrite1hTokens: 0 };
  const texts = [JSON.stringify(partsOfPrompt.map((name) => json[name]))];
  let marked = 0;
  let since = 0;
  const mark = (control: unknown) => {
    const kind = field(control, 'ttl') === '1h' ? 'cacheWrite1hTokens' : 'cacheWriteTokens';
    written[kind] += since;
    since = 0;
  };
  for (const [role, block] of blocksOf(json)) {
    const text = JSON.stringify(block);
    texts.push(role, text);
    since += estimateInput(text, Buffer.byteLength(text)).tokens;
    const control = field(block, 'cache_control');
    if (!isGiven(control)) continue;
    mark(control);
    marked = texts.length;
  }
  const cachePrefix = marked === 0 ? undefined : prefixOf(texts.slice(0, marked), written);
  // A `cache_control` at the top stands for one behind the last block.
  if (isGiven(json.cache_control)) mark(json.cache_control);
  return { ...written, ...(cachePrefix && { cachePrefix }) };
}

function prefixOf(
  texts: readonly string[],
  {
    cacheWriteTokens,
    cacheWrite1hTokens,
  }: { cacheWriteTokens: number; cacheWrite1hTokens: number },
): Expectation['cachePrefix'] {
  const key = createHash('sha256').update(texts.join('\n')).digest('base64url');
  return { key, tokens: cacheWriteTokens, hourTokens: cacheWrite1hTokens };
}

function* blocksOf({ tools, system, messages }: JsonObject): Iterable<readonly [string, unknown]> {
  for (const tool of listOf(tools)) yield ['tool', tool];
  for (const block of listOf(system)) yield ['system', block];
  for (const message of listOf(messages)) {
    const role = String(field(message, 'role'));
    for (const block of listOf(field(message, 'content'))) yield [role, block];
  }
}

/** A text stands for a list of one. */
function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return isGiven(value) ? [value] : [];
}
