import { openaiDescription } from '../openai/description.ts';
import type { OpenAILike } from '../openai-like/description.ts';
import { errorBody } from '../openai-like/errors.ts';
import type { Refusal } from '../server/exchange.ts';

const codes: Record<number, number> = { 400: 3, 401: 16, 403: 7, 404: 5, 409: 6, 429: 8, 503: 14 };

/** Fireworks: calls like OpenAI's, and a control plane of accounts, datasets and jobs beside them. */
export const fireworksDescription: OpenAILike = {
  ...openaiDescription,
  name: 'fireworks',
  root: '/inference/v1',
  barePaths: [],
  endpoints: ['/v1/chat/completions'],
  bareLines: true,
  bytesPerBatch: 150_000_000,
  scopeHeaders: [],
  // The control plane has errors of gRPC, but for what it says of keys.
  errorBody: (refusal, path) =>
    path?.startsWith('/v1/') && refusal.status !== 403 ? rpcError(refusal) : errorBody(refusal),
};

function rpcError({ status, message }: Refusal): object {
  return { code: codes[status] ?? (status < 500 ? 3 : 13), message, details: [] };
}
