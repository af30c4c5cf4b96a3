import { createHash } from 'node:crypto';
import { isObject, type JsonObject } from '../server/json.ts';
import type { CacheLimits } from '../world/model/execute.ts';
import { characters, charactersPerToken } from '../world/model/prompt.ts';
import { listOf } from '../world/model/stream-pieces.ts';
import type { Prefix } from '../world/usage/prompt-cache.ts';

const lives = { '5m': 5 * 60_000, '1h': 60 * 60_000 };
type Life = keyof typeof lives;

/** So many blocks before a mark are looked at for what an earlier call has written. */
const lookedBack = 20;
const mostMarks = 4;

interface Block {
  role: string;
  part: JsonObject;
  /** The first one of a message, which counts its role. */
  isFirst: boolean;
  mark: Life | null;
}

/** The beginnings up to each mark, and those before it that an earlier call may have marked. */
export function prefixesOf(body: JsonObject, model: string, { minimum }: CacheLimits): Prefix[] {
  const blocks = blocksOf(body);
  const marks = blocks.flatMap(({ mark }, at) => (mark === null ? [] : [at]));
  if (marks.length === 0) return [];
  const least = minimum ?? minimumOf(model);
  const { tool_choice: choice, thinking, output_config: output } = body;
  const hash = createHash('sha256').update(JSON.stringify([choice, thinking, output]));
  let length = 0;
  const prefixes = blocks.map(({ role, part, isFirst, mark }): Prefix => {
    // Marks do not decide whether two beginnings are the same.
    const { cache_control: _mark, ...unmarked } = part;
    hash.update(JSON.stringify([role, unmarked]));
    length += characters(part) + (isFirst ? role.length : 0);
    const kind = mark === '1h' ? 'cacheWrite1h' : 'cacheWrite';
    return {
      hash: hash.copy().digest('base64'),
      tokens: Math.ceil(length / charactersPerToken),
      life: lives[mark ?? '5m'],
      ...(mark !== null && { write: kind }),
    };
  });
  const isNear = (at: number) => marks.some((mark) => mark >= at && mark - at <= lookedBack);
  return prefixes.filter(({ tokens }, at) => tokens >= least && isNear(at));
}

/** What is wrong with the marks of a body, or null. */
export function checkMarks(body: JsonObject): string | null {
  const marks = blocksOf(body).filter(({ mark }) => mark !== null).length;
  if (marks <= mostMarks) return null;
  return `A maximum of ${mostMarks} blocks with cache_control may be provided. Found ${marks}.`;
}

/** Tools, system and messages, in the order in which the cache sees them. */
function blocksOf({ tools, system, messages, cache_control: whole }: JsonObject): Block[] {
  const blocks = [
    ...listOf(tools).map((tool) => toBlock('tool', tool)),
    ...contentOf(system).map((part) => toBlock('system', part)),
    ...listOf(messages).flatMap(({ role, content }) =>
      contentOf(content).map((part, at) => toBlock(String(role), part, at === 0)),
    ),
  ];
  // A mark of the whole body stands at its last block.
  const last = blocks.at(-1);
  if (last !== undefined && isObject(whole)) last.mark ??= lifeOf(whole);
  return blocks;
}

function toBlock(role: string, part: JsonObject, isFirst = false): Block {
  const { cache_control: control } = part;
  return { role, part, isFirst, mark: isObject(control) ? lifeOf(control) : null };
}

function contentOf(content: unknown): JsonObject[] {
  return typeof content === 'string' ? [{ text: content }] : listOf(content);
}

function lifeOf({ ttl }: JsonObject): Life {
  return ttl === '1h' ? '1h' : '5m';
}

/** As published in November 2026; a shorter beginning is not kept, and nothing says so. */
function minimumOf(model: string): number {
  if (/-5-5/.test(model)) return 512;
  if (/(haiku-4-5|opus-4-[56])/.test(model)) return 4_096;
  return /haiku/.test(model) ? 2_048 : 1_024;
}
