import { mediaOf } from './media.ts';

/** English prose has about four bytes to a token, code a little less. */
const bytesPerToken = 4;
/**
 * Other scripts have fewer bytes to a token: a Chinese character is three bytes and about one token. The
 * bytes beyond one per character are counted on top, which makes one token of such a character.
 */
const tokensPerExtraByte = 1 / 8;
/** Names, quotes and brackets of the shortest chat request, and the tokens a provider counts for them. */
const structureBytes = 64;
const structureTokens = 4;

/** What the input of a request may have, in tokens. */
export interface InputEstimate {
  readonly tokens: number;
  /** The part of them that is spoken. */
  readonly audioTokens: number;
}

/**
 * Estimates the input tokens of a request without a tokenizer: good enough to keep a batch below a limit
 * with some margin. `bytes` is the length of `body` in UTF-8.
 */
export function estimateInput(body: string, bytes: number): InputEstimate {
  const media = mediaOf(body);
  const text = bytes - (media?.characters ?? 0);
  const extra = (bytes - body.length) * tokensPerExtraByte;
  const written = Math.ceil(Math.max(0, text - structureBytes) / bytesPerToken + extra);
  return {
    tokens: structureTokens + written + (media?.tokens ?? 0),
    audioTokens: media?.audioTokens ?? 0,
  };
}
