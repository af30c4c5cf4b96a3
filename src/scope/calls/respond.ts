import type { Answer, Dict } from '../../base/types.ts';
import type { BodyReader } from '../../hooks/fetch/read-body.ts';

let responses: typeof import('../../hooks/fetch/response.ts') | undefined;
let loading: Promise<void> | undefined;

/**
 * Using `Response` makes Node load its whole fetch, so the module is loaded with the first call and
 * not on import. The first answer would be too late: a thousand may come at once.
 */
export function loadResponses(): Promise<void> {
  loading ??= import('../../hooks/fetch/response.ts').then((loaded) => {
    responses = loaded;
  });
  return loading;
}

/** An answer as a `Response`; synchronous once the module is loaded. */
export function respond(
  answer: Answer,
  headers: Dict,
  url: string,
  reader?: BodyReader,
): Response | Promise<Response> {
  if (responses) return new responses.AnswerResponse(answer, headers, url, reader);
  return loadResponses().then(() => respond(answer, headers, url, reader));
}
