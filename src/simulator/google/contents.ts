import { isObject } from '../server/json.ts';
import { listOf } from '../world/model/stream-pieces.ts';

/** The text of the user's last turn, or of the last turn if none is the user's. */
export function lastUserText(contents: unknown): string {
  const turns = listOf(contents);
  return textOf(turns.findLast(isUserTurn) ?? turns.at(-1));
}

/** The text of one content. */
export function textOf(content: unknown): string {
  const parts = isObject(content) ? listOf(content.parts) : [];
  return parts
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .filter((text) => text !== '')
    .join('\n');
}

/** What has happened since the user last said something: calls of functions and their results. */
export function sinceLastUserContent(contents: unknown): readonly unknown[] {
  const turns = listOf(contents);
  return turns.slice(turns.findLastIndex(isUserTurn) + 1);
}

/** Results of functions come in the user's name. */
function isUserTurn(turn: unknown): boolean {
  if (!isObject(turn) || holdsFunctionResults(turn)) return false;
  return turn.role === undefined || turn.role === 'user';
}

export function holdsFunctionResults(turn: unknown): boolean {
  const parts = isObject(turn) ? listOf(turn.parts) : [];
  return parts.length > 0 && parts.every(({ functionResponse }) => functionResponse !== undefined);
}
