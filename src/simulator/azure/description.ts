import { openaiDescription } from '../openai/description.ts';
import { openaiOnly } from '../openai/openai-only.ts';
import type { OpenAILike } from '../openai-like/description.ts';
import { errorBody } from '../openai-like/errors.ts';
import { Refusal } from '../server/exchange.ts';
import { admitFile, fileStatus, lifetimeOf } from './files.ts';
import { azureRoutes } from './routes.ts';
import { azureTiers } from './tiers.ts';

const chat = '/v1/chat/completions';

/** Azure OpenAI: one resource with two roots, the newer API below `/openai/v1`, the older below `/openai`. */
export const azureDescription: OpenAILike = {
  ...openaiDescription,
  ...openaiOnly,
  name: 'azure',
  root: '/openai/v1',
  barePaths: [],
  // Responses are created as chat completions; their own name is not accepted.
  endpoints: [chat, '/chat/completions'],
  lineEndpoint(url, endpoint) {
    if (url === chat || url === '/chat/completions') return chat;
    return url === '/v1/responses' && endpoint === chat ? url : undefined;
  },
  requestsPerBatch: 100_000,
  keyHeaders: ['api-key', 'ocp-apim-subscription-key'],
  scopeHeaders: [],
  alwaysErrorFile: true,
  typedParts: true,
  lifetimeOf,
  admitFile,
  fileStatus,
  errorBody: (refusal) =>
    errorBody(
      new Refusal(refusal.status, refusal.message, {
        code: String(refusal.status),
        ...refusal.details,
      }),
    ),
  tiers: azureTiers,
  moreRoutes: azureRoutes,
};
