import type { JsonObject } from '../../server/json.ts';
import type { DialectAnswer } from '../../world/model/execute.ts';
import { estimateTokens } from '../../world/model/prompt.ts';
import { newId } from '../../world/random.ts';
import { nowInSeconds } from './now-in-seconds.ts';

/** One transparent pixel. */
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const tokensPerImage = 272;

/** The older models answer with links unless asked for bytes, and do not count tokens. */
export function answerImages(body: JsonObject, n: number): DialectAnswer {
  const isOld = String(body.model).startsWith('dall-e');
  const asLinks = isOld && body.response_format !== 'b64_json';
  const data = Array.from({ length: Number(body.n ?? 1) }, (_, index) => {
    if (!asLinks) return { b64_json: imageOf(`image ${index} of execution ${n}`) };
    const url = `https://images.simulator.invalid/${newId('img-')}.png`;
    return { url, revised_prompt: String(body.prompt) };
  });
  if (isOld) {
    return { inputTokens: 0, outputTokens: 0, body: { created: nowInSeconds(), data } };
  }
  const inputTokens = estimateTokens(body.prompt);
  const outputTokens = tokensPerImage * data.length;
  return {
    inputTokens,
    outputTokens,
    body: {
      created: nowInSeconds(),
      background: orElse(body.background, 'opaque'),
      data,
      output_format: body.output_format ?? 'png',
      quality: orElse(body.quality, 'low'),
      size: orElse(body.size, '1024x1024'),
      usage: {
        input_tokens: inputTokens,
        input_tokens_details: { image_tokens: 0, text_tokens: inputTokens },
        output_tokens: outputTokens,
        total_tokens: inputTokens + outputTokens,
      },
    },
  };
}

/** What follows the end of a PNG is not looked at: it keeps any two images apart. */
function imageOf(name: string): string {
  return Buffer.concat([pixel, Buffer.from(name)]).toString('base64');
}

/** An answer says what `auto` came to. */
function orElse(asked: unknown, standard: string): unknown {
  return asked === undefined || asked === 'auto' ? standard : asked;
}
