import { memberText } from '../../batchers/shared/json-text.ts';

/** A value of a row as text. What is no text is as the row has it: numbers beyond 2^53 were rounded when it was parsed. */
export function columnText(value: unknown, rowText = '', column = ''): string {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '';
  return columnJson(value, rowText, column);
}

/** The same as JSON. */
export function columnJson(value: unknown, rowText: string, column: string): string {
  if (typeof value === 'string') return JSON.stringify(value);
  return memberText(rowText, column) ?? JSON.stringify(value);
}
