import { openaiDescription } from '../openai/description.ts';
import type { OpenAILike } from '../openai-like/description.ts';
import { errorBody } from './errors.ts';

/** What OpenRouter shares with OpenAI: what it answers at once, and how its list is cut. */
export const openrouterDescription: OpenAILike = {
  ...openaiDescription,
  name: 'openrouter',
  root: '/api/v1',
  barePaths: ['/api/v1', '/api/beta'],
  endpoints: ['/v1/chat/completions', '/v1/responses', '/v1/embeddings'],
  createStatus: 202,
  batchIdPrefix: 'batch-',
  scopeHeaders: [],
  errorBody,
};
