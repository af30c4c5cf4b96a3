import { isObject, type JsonObject } from '../server/json.ts';

/** Mistral's line of a result file, made of OpenAI's; a request that the job did not get to has none. */
export function resultLineOf({ id, custom_id, response, error }: JsonObject): JsonObject | null {
  const line = { id: String(id).replace('batch_req_', 'batch-'), custom_id };
  if (isObject(response)) {
    const { status_code, body } = response;
    return { ...line, response: { status_code, body }, error: null };
  }
  const { code, message } = isObject(error) ? error : {};
  return code === 'timeout' ? { ...line, response: null, error: message } : null;
}
