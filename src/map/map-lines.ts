import type { BatchifyOptions } from '../options/index.ts';
import type { FormatName } from './lines/line-format.ts';
import type { LineTerms } from './map-request.ts';

/**
 * The options of `mapLines`: those of `batchify`, and how requests are made of lines.
 *
 * @example
 * const options: MapLinesOptions = {
 *   model: 'openai/gpt-5-mini',
 *   prompt: 'Translate into French: {{text}}',
 *   name: 'catalogue in French',
 * };
 */
export interface MapLinesOptions extends BatchifyOptions, LineTerms {
  /** The form of the lines. Default: seen by the first one. */
  readonly input?: FormatName | undefined;
}

/**
 * What became of a line: what the model said (text, an object with a schema; for lines in the form of a provider the
 * body of its answer), or why there is no answer.
 *
 * @example
 * const mapped: MappedLine = { line: 0, id: '1', answer: 'Paris' };
 */
export type MappedLine = {
  /** From 0, blank lines left out. */
  readonly line: number;
  /** The id in the line; of a row its own `id`, or its number from 1. */
  readonly id: string;
} & (
  | { readonly answer: unknown }
  | { readonly error: { readonly status: number | null; readonly reason: unknown } }
);

/**
 * Asks every line of an iterable at half the price, and yields the answers in the order of the lines. Lines are text or
 * objects: rows, or requests in the form of a provider's batch files. They are copied to a file first, and memory does
 * not grow with their number. Run again on the same ledger, what was asked before is not paid again.
 *
 * @example
 * for await (const mapped of mapLines(rows, { model: 'openai/gpt-5-mini', prompt: 'Summarise: {{text}}' })) {
 *   console.log(mapped.id, 'answer' in mapped ? mapped.answer : mapped.error);
 * }
 */
export async function* mapLines(
  lines: AsyncIterable<string | object> | Iterable<string | object>,
  options: MapLinesOptions,
): AsyncGenerator<MappedLine, void, undefined> {
  // Loaded with the first use: most programs have calls, and no lines.
  const { mapAll } = await import('./map-all.ts');
  yield* mapAll(lines, options);
}
