import { isObject, type JsonObject } from '../server/json.ts';

/** Doubleword's line of OpenAI's: what went wrong is a text, and cancelled requests have no line. */
export function failedLine(line: JsonObject): JsonObject | null {
  const { response, error } = line;
  if (isObject(error)) {
    if (error.code === 'batch_cancelled') return null;
    return error.code === 'timeout' ? failed(line, error.message) : line;
  }
  const { status_code: status, body } = isObject(response) ? response : {};
  if (status === 200) return line;
  if (status === 0) return failed(line, reason('NetworkError', { error: 'connection reset' }));
  const isRetriable = status === 429 || Number(status) >= 500;
  const type = isRetriable ? 'RetriableHttpStatus' : 'NonRetriableHttpStatus';
  return failed(line, reason(type, { status, body: JSON.stringify(body) }));
}

function reason(type: string, details: JsonObject): string {
  return JSON.stringify({ type, details });
}

function failed(line: JsonObject, message: unknown): JsonObject {
  return { ...line, response: null, error: { code: null, message } };
}
