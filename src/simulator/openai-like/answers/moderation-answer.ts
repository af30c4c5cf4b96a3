import { isObject, type JsonObject } from '../../server/json.ts';
import type { DialectAnswer } from '../../world/model/execute.ts';
import { estimateTokens } from '../../world/model/prompt.ts';
import { newId } from '../../world/random.ts';

/** By category: which kinds of input are looked at for it. */
const categories: Record<string, readonly string[]> = {
  harassment: ['text'],
  'harassment/threatening': ['text'],
  hate: ['text'],
  'hate/threatening': ['text'],
  illicit: ['text'],
  'illicit/violent': ['text'],
  'self-harm': ['text', 'image'],
  'self-harm/instructions': ['text', 'image'],
  'self-harm/intent': ['text', 'image'],
  sexual: ['text', 'image'],
  'sexual/minors': ['text'],
  violence: ['text', 'image'],
  'violence/graphic': ['text', 'image'],
};

/** Every input is harmless. The scores tell executions apart. Answers have no usage: they cost nothing. */
export function moderate(body: JsonObject, n: number): DialectAnswer {
  const results = inputsOf(body.input).map((input) => {
    const kinds = kindsIn(input);
    return {
      flagged: false,
      categories: forEach(() => false),
      category_scores: forEach(() => (n % 1_000) / 1_000_000),
      category_applied_input_types: forEach((looked) =>
        looked.filter((kind) => kinds.includes(kind)),
      ),
    };
  });
  return {
    inputTokens: estimateTokens(body.input),
    outputTokens: 0,
    body: {
      id: newId('modr-'),
      model: typeof body.model === 'string' ? body.model : 'omni-moderation-latest',
      results,
    },
  };
}

function forEach<T>(value: (looked: readonly string[]) => T): Record<string, T> {
  return Object.fromEntries(
    Object.entries(categories).map(([name, kinds]) => [name, value(kinds)]),
  );
}

/** A text, texts, or the parts of one message with images. */
function inputsOf(input: unknown): unknown[] {
  return Array.isArray(input) && !isObject(input[0]) ? input : [input];
}

function kindsIn(input: unknown): string[] {
  if (!Array.isArray(input)) return ['text'];
  return input.map((part) => (isObject(part) && part.type === 'image_url' ? 'image' : 'text'));
}
