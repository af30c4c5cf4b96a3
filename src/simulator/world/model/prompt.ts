import { isObject } from '../../server/json.ts';

/** The text of the last user turn of a chat-like list, or of the last item if none is a user's. */
export function lastUserText(turns: unknown): string {
  if (typeof turns === 'string') return turns;
  if (!Array.isArray(turns)) return '';
  const last = turns.findLast(isUserTurn) ?? turns.at(-1);
  return isObject(last) ? textOf(last.content) : textOf(last);
}

/** What has happened since the user last said something: calls of tools and their results. */
export function sinceLastUserTurn(turns: unknown): readonly unknown[] {
  return Array.isArray(turns) ? turns.slice(turns.findLastIndex(isUserTurn) + 1) : [];
}

/** Anthropic's results of tools come in the user's name. */
function isUserTurn(turn: unknown): boolean {
  return isObject(turn) && turn.role === 'user' && !holdsToolResults(turn);
}

export function holdsToolResults(turn: unknown): boolean {
  if (!isObject(turn) || !Array.isArray(turn.content) || turn.content.length === 0) return false;
  return turn.content.every((part) => isObject(part) && part.type === 'tool_result');
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : ''))
    .filter((text) => text !== '')
    .join('\n');
}

/** About four characters per token, one of Chinese and its like, over every string inside the value. */
export function estimateTokens(...values: unknown[]): number {
  const all = values.reduce<number>((sum, value) => sum + characters(value), 0);
  return Math.ceil(all / charactersPerToken);
}

export const charactersPerToken = 4;

const wide = /[\u1100-\uffff]/g;

export function characters(value: unknown): number {
  if (typeof value === 'string') return value.length + 3 * (value.match(wide)?.length ?? 0);
  if (typeof value === 'number') return 4;
  if (typeof value !== 'object' || value === null) return 0;
  let sum = 0;
  for (const part of Object.values(value)) sum += characters(part);
  return sum;
}

const longestQuote = 2000;

/** Says what was asked, of whom, and which execution it was: no two answers are alike. */
export function answerText(prompt: string, model: string, n: number): string {
  const quote = prompt.length > longestQuote ? `${prompt.slice(0, longestQuote)}…` : prompt;
  return `answer to "${quote}" from ${model} (execution ${n})`;
}
