import { isObject } from '../../base/json.ts';
import { type FormatName, parseLine } from '../lines/line-format.ts';

/** The form of the input by its first line; anything that no provider's batch file holds is a row. */
export function detectFormat(firstLine: string): FormatName {
  const line = parseLine(firstLine);
  if ('bad' in line) return 'rows';
  const { custom_id: customId, body, url, params, key, request } = line.json;
  if (customId !== undefined && isObject(params)) return 'anthropic';
  if (customId !== undefined && (isObject(body) || typeof url === 'string')) return 'openai';
  return typeof key === 'string' && isObject(request) ? 'google' : 'rows';
}
