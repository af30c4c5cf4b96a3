import type { BodyReader } from '../hooks/fetch/read-body.ts';
import type { Answer, Dict } from '../types.ts';

let responses: typeof import('../hooks/fetch/response.ts') | undefined;
let loading: Promise<void> | undefined;

/**
 * Touching `Response` makes Node load its whole fetch, so it is not done on import but with the first
 * call, whose answer is far away: a thousand answers may come at once, and each would have to wait.
 */
export function loadResponses(): Promise<void> {
  loading ??= import('../hooks/fetch/response.ts').then((loaded) => {
    responses = loaded;
  });
  return loading;
}

/** An answer as a `Response`: at once, as soon as responses are loaded. */
export function respond(
  answer: Answer,
  headers: Dict,
  url: string,
  reader?: BodyReader,
): Response | Promise<Response> {
  if (responses) return new responses.AnswerResponse(answer, headers, url, reader);
  return loadResponses().then(() => respond(answer, headers, url, reader));
}
