/** Whether a call wants its answer as an event stream, by its URL or its body. */
export function wantsStream(url: string, body: Buffer): boolean {
  const { pathname, searchParams } = new URL(url);
  if (/:stream(GenerateContent|RawPredict)$/.test(pathname)) {
    return pathname.endsWith('RawPredict') || searchParams.get('alt') === 'sse';
  }
  // Most bodies say nothing of a stream, and need not be parsed for it.
  if (!body.includes('"stream"')) return false;
  try {
    const json: unknown = JSON.parse(body.toString());
    return (json as { stream?: unknown } | null)?.stream === true;
  } catch {
    return false;
  }
}
