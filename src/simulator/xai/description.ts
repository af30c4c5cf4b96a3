import { openaiDescription } from '../openai/description.ts';
import type { OpenAILike } from '../openai-like/description.ts';
import { errorBody } from './errors.ts';
import { xaiUsage } from './usage.ts';

/** What xAI shares with OpenAI: its files, and what it answers at once. */
export const xaiDescription: OpenAILike = {
  ...openaiDescription,
  name: 'xai',
  barePaths: [],
  endpoints: ['/v1/chat/completions', '/v1/responses'],
  purpose: '',
  fileIdPrefix: 'file_',
  scopeHeaders: [],
  errorBody,
  usage: xaiUsage,
  fileObject: (file) => ({ ...file, expires_at: null }),
};
