import { memberText } from '../../batchers/shared/json-text.ts';

/** A value of a row as text. A number is as the row has it: those beyond 2^53 were rounded when it was parsed. */
export function columnText(value: unknown, rowText = '', column = ''): string {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return memberText(rowText, column) ?? String(value);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
