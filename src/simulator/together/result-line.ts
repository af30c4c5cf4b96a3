import { isObject, type JsonObject } from '../server/json.ts';

/** Codes of Together's errors online; `invalid_model` and `timeout` are all that is published for lines. */
const codes: Record<number, string> = {
  400: 'invalid_request',
  401: 'invalid_api_key',
  403: 'permission_denied',
  404: 'model_not_found',
  409: 'conflict',
  413: 'request_too_large',
  422: 'unprocessable_entity',
  429: 'rate_limit',
  503: 'service_unavailable',
};

/** A line has either a response that succeeded, or an error without a status. */
export function resultLineOf({ custom_id, response, error }: JsonObject): JsonObject {
  if (!isObject(response)) return { custom_id, error: errorOfUnexecuted(error) };
  const { status_code: status, body } = response;
  if (status === 200) return { custom_id, response: { status_code: 200, body } };
  const told = isObject(body) && isObject(body.error) ? body.error : {};
  const message = told.message ?? 'The request failed.';
  return {
    custom_id,
    error: { message, code: told.code ?? codes[Number(status)] ?? 'server_error' },
  };
}

/** How lines of expired and cancelled jobs look is not published. */
function errorOfUnexecuted(error: unknown): JsonObject {
  const { code, message } = isObject(error) ? error : {};
  return { message, code: String(code).replace(/^batch_/, '') };
}
