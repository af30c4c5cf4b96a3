import { field, fields, isGiven, listOf } from '../../base/json.ts';
import type { Call } from '../batcher.ts';

const media: ReadonlySet<unknown> = new Set([
  'image',
  'image_url',
  'input_image',
  'audio',
  'input_audio',
  'video',
  'video_url',
  'input_video',
  'file',
  'input_file',
  'document',
]);

/**
 * Why a call cannot travel in a batch. OpenRouter finds most of these only after it has taken the batch, and then
 * fails all of it.
 */
export function whyUnbatched({ path, json, headers, lane }: Call): string | undefined {
  const { background, models, modalities, audio, image_config: images } = json;
  if (background === true) return 'background responses are asynchronous already';
  if (headers['anthropic-beta']) return 'betas of Anthropic are not in force inside a batch';
  const isText = Array.isArray(modalities) ? modalities.every((one) => one === 'text') : true;
  if (!isText || isGiven(audio) || isGiven(images)) return 'batches have answers of text only';
  // What follows holds for batches, and ordinary calls are all that this lane sends.
  if (lane === 'realtime') return undefined;
  if (Array.isArray(models) && models.length > 0) {
    return 'fallback `models` have no effect inside a batch, which is for one model';
  }
  const preference = otherPreference(json.provider);
  if (preference !== undefined) {
    return `\`provider.${preference}\` has no effect inside a batch: only \`provider.only\` is kept`;
  }
  const isEmbedding = path === '/embeddings';
  const hasMedia = isEmbedding
    ? listOf(json.input).some(
        (input) => isGiven(input) && typeof input === 'object' && !Array.isArray(input),
      )
    : [...listOf(json.messages), ...listOf(json.input)].some(holdsMedia) ||
      listOf(json.system).some(isMedia);
  return hasMedia ? 'batches take text only: no images, speech, films or files' : undefined;
}

/** The first routing preference that a batch cannot have. */
export function otherPreference(provider: unknown): string | undefined {
  return Object.entries(fields(provider)).find(
    ([name, value]) => name !== 'only' && isGiven(value),
  )?.[0];
}

/** A message, an item of a response, or a block that holds others: the result of a tool. */
function holdsMedia(value: unknown): boolean {
  if (isMedia(value)) return true;
  const { content, output } = fields(value);
  return listOf(content).some(holdsMedia) || listOf(output).some(isMedia);
}

function isMedia(value: unknown): boolean {
  return media.has(field(value, 'type'));
}
