import { openaiDescription } from '../openai/description.ts';
import type { OpenAILike } from '../openai-like/description.ts';
import { errorBody } from './errors.ts';

/** What sference shares with OpenAI: what it answers at once. */
export const sferenceDescription: OpenAILike = {
  ...openaiDescription,
  name: 'sference',
  barePaths: [],
  endpoints: ['/v1/chat/completions', '/v1/responses'],
  createStatus: 201,
  batchIdPrefix: '',
  scopeHeaders: [],
  errorBody,
};
