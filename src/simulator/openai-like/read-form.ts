import type { Exchange } from '../server/exchange.ts';
import { Refusal, readJson } from '../server/exchange.ts';
import type { JsonObject } from '../server/json.ts';
import { boundaryOf, MultipartError, readMultipart } from '../server/multipart.ts';

/** The body of an ordinary call: JSON, or a form where the endpoint takes files. */
export async function readBody({ headers, body }: Exchange): Promise<JsonObject> {
  const boundary = boundaryOf(headers['content-type']);
  if (boundary === null) return readJson(body);
  const fields: Record<string, string> = {};
  try {
    await readMultipart(body, boundary, ({ name, filename }) => {
      // Only the name of a file is kept: its content is never looked at.
      fields[name] = filename ?? '';
      return (bytes) => {
        if (filename === null) fields[name] += bytes.toString();
      };
    });
  } catch (error) {
    if (error instanceof MultipartError) throw new Refusal(400, error.message);
    throw error;
  }
  return fields;
}
