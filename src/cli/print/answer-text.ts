import { parseJson } from '../../base/json.ts';
/** The body as it stands in a line of JSON: as it came where it is JSON, otherwise as text. */
export function inlineBody(body: string): string {
  if (parseJson(body) === undefined) return JSON.stringify(body);
  // Line ends can only stand between the tokens of JSON. Printing it again would change large numbers.
  return body.replace(/[\r\n]+/g, ' ').trim();
}
