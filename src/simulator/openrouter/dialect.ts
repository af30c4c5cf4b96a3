import {
  batchDialect as messageBatches,
  realtimeDialect as messages,
} from '../anthropic/dialect.ts';
import { batchDialect, realtimeDialect } from '../openai-like/dialect.ts';
import type { Dialect } from '../world/model/execute.ts';
import { openrouterDescription } from './description.ts';

export const messagesEndpoint = '/v1/messages';
const version = '2023-06-01';

/** One dialect for calls in the wires of OpenAI and of Anthropic, by their endpoint. */
function eitherBy(openai: Dialect, anthropic: Dialect): Dialect {
  const of = (endpoint: string) => (endpoint === messagesEndpoint ? anthropic : openai);
  return {
    provider: openrouterDescription.name,
    prompt: (endpoint, body) => of(endpoint).prompt(endpoint, body),
    check: (endpoint, body) => of(endpoint).check(endpoint, body),
    unknownModel: (model) => openai.unknownModel(model),
    demand: (endpoint, body) => of(endpoint).demand(endpoint, body),
    answer: (endpoint, body, content, n) => of(endpoint).answer(endpoint, body, content, n),
    encode: (endpoint, body, answer) => of(endpoint).encode(endpoint, body, answer),
    inputTokens: (endpoint, body) => of(endpoint).inputTokens(endpoint, body),
    tellUsage: (endpoint, answer, usage, model) =>
      of(endpoint).tellUsage?.(endpoint, answer, usage, model) ?? answer,
  };
}

export const onlineDialect = eitherBy(realtimeDialect(openrouterDescription), messages(version));

export const lineDialect = eitherBy(
  batchDialect(openrouterDescription),
  messageBatches({ version, userProfile: undefined }),
);
