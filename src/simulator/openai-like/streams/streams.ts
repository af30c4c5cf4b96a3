import type { JsonObject } from '../../server/json.ts';
import { streamChat } from './stream-chat.ts';
import { streamCompletion } from './stream-completion.ts';
import { streamImages } from './stream-image.ts';
import { streamResponse } from './stream-response.ts';

export type Stream = (answer: JsonObject, request: JsonObject) => string;

/** By endpoint: the same answer told as server-sent events. */
export const streams: Record<string, Stream> = {
  '/v1/chat/completions': streamChat,
  '/v1/responses': streamResponse,
  '/v1/completions': streamCompletion,
  '/v1/images/generations': streamImages('image_generation'),
  '/v1/images/edits': streamImages('image_edit'),
};
