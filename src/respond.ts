import type { Answer, Dict } from './types.ts';

/** Loaded with the first answer: touching `Response` makes Node load its whole fetch. */
let responses: typeof import('./hooks/response.ts') | undefined;

/** An answer as a `Response`: at once, unless it is the first. */
export function respond(answer: Answer, headers: Dict, url: string): Response | Promise<Response> {
  if (responses) return new responses.AnswerResponse(answer, headers, url);
  return loadResponses().then(() => respond(answer, headers, url));
}

export async function loadResponses(): Promise<void> {
  responses = await import('./hooks/response.ts');
}
