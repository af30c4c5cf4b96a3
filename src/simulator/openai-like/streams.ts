import type { JsonObject } from '../server/json.ts';
import { streamChat } from './stream-chat.ts';
import { streamResponse } from './stream-response.ts';

type Stream = (answer: JsonObject, request: JsonObject) => string;

/** By endpoint: the same answer told as server-sent events. */
export const streams: Record<string, Stream> = {
  '/v1/chat/completions': streamChat,
  '/v1/responses': streamResponse,
};
