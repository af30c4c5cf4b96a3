/** English prose has about four bytes to a token, code a little less. */
const bytesPerToken = 4;
/**
 * Other scripts have fewer bytes to a token: a Chinese character is three bytes and about one token. The
 * bytes beyond one per character are counted on top, which makes one token of such a character.
 */
const tokensPerExtraByte = 1 / 8;
/** Images are counted by their size in pixels, not by the length of their text. */
const tokensPerImage = 1_000;
/** Names, quotes and brackets of the shortest chat request, and the tokens a provider counts for them. */
const structureBytes = 64;
const structureTokens = 4;
const base64 = ';base64,';

/**
 * Estimates the input tokens of a request without a tokenizer: good enough to keep a batch below a limit
 * with some margin. `bytes` is the length of `body` in UTF-8.
 */
export function estimateTokens(body: string, bytes: number): number {
  let text = bytes;
  let images = 0;
  for (let at = body.indexOf(base64); at >= 0; at = body.indexOf(base64, at)) {
    const start = at + base64.length;
    const quote = body.indexOf('"', start);
    at = quote < 0 ? body.length : quote;
    text -= at - start;
    images += 1;
  }
  const extra = (bytes - body.length) * tokensPerExtraByte;
  const written = Math.ceil(Math.max(0, text - structureBytes) / bytesPerToken + extra);
  return structureTokens + written + images * tokensPerImage;
}
