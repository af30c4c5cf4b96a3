import { describe, expect, it } from 'vitest';
import { soundsLikeOne } from './error-words.ts';

const answer = (error: object) => ({ status: 400, headers: {}, body: JSON.stringify({ error }) });

describe('a refusal', () => {
  it.each([
    { code: 'context_length_exceeded', message: "This model's maximum context length is 128000" },
    { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000' },
    { status: 'INVALID_ARGUMENT', message: 'The input exceeds the maximum number of tokens' },
    { code: 'content_policy_violation', message: 'Your request was rejected by our safety system' },
  ])('may be about one request alone: $message', (error) => {
    expect(soundsLikeOne(answer(error))).toBe(true);
  });

  it.each([
    { code: 'invalid_json_schema', message: "Invalid schema for response_format 'Invoice'" },
    { code: 'unsupported_parameter', message: "Unsupported parameter: 'max_tokens'" },
    { code: 'model_not_found', message: 'The model does not exist' },
  ])('is about all that are alike: $message', (error) => {
    expect(soundsLikeOne(answer(error))).toBe(false);
  });
});
