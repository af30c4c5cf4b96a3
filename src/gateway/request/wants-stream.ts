import { field, parseJson } from '../../base/json.ts';
/** Whether a call wants its answer as an event stream, by its URL or its body. */
export function wantsStream(url: string, body: Buffer): boolean {
  // Only paths that name their method need be parsed.
  if (url.includes(':stream')) {
    const { pathname, searchParams } = new URL(url);
    if (pathname.endsWith(':streamRawPredict')) return true;
    if (pathname.endsWith(':streamGenerateContent')) return searchParams.get('alt') === 'sse';
  }
  // Most bodies say nothing of a stream, and need not be parsed for it.
  if (!body.includes('"stream"')) return false;
  return field(parseJson(body.toString()), 'stream') === true;
}
