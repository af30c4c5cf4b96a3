import { estimateInput } from '../../pricing/token-estimate.ts';
import type { Expectation, Route } from '../batcher.ts';
import { field } from '../shared/outcomes.ts';

type JsonObject = Readonly<Record<string, unknown>>;
type CacheWrites = Pick<Expectation, 'cacheWriteTokens' | 'cacheWrite1hTokens'>;

/**
 * The tokens that a request asks to be cached: everything up to its last `cache_control`, in the order in
 * which Claude reads it. All of them count as written: requests of one batch run together, so that none
 * reads what another one has written.
 */
export function cacheWrites({ body }: Pick<Route, 'body'>, json: JsonObject): CacheWrites {
  if (!body.includes('"cache_control"')) return {};
  const written = { cacheWriteTokens: 0, cacheWrite1hTokens: 0 };
  let since = 0;
  const mark = (control: unknown) => {
    const kind = field(control, 'ttl') === '1h' ? 'cacheWrite1hTokens' : 'cacheWriteTokens';
    written[kind] += since;
    since = 0;
  };
  for (const block of blocksOf(json)) {
    const text = JSON.stringify(block);
    since += estimateInput(text, Buffer.byteLength(text)).tokens;
    const control = field(block, 'cache_control');
    if (control !== undefined && control !== null) mark(control);
  }
  // A `cache_control` at the top stands for one behind the last block.
  if (json.cache_control !== undefined && json.cache_control !== null) mark(json.cache_control);
  return written;
}

function* blocksOf({ tools, system, messages }: JsonObject): Iterable<unknown> {
  yield* listOf(tools);
  yield* listOf(system);
  for (const message of listOf(messages)) yield* listOf(field(message, 'content'));
}

/** A text stands for a list of one. */
function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}
