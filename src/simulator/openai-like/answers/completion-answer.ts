import type { JsonObject } from '../../server/json.ts';
import type { Content } from '../../world/model/content.ts';
import type { DialectAnswer } from '../../world/model/execute.ts';
import { estimateTokens } from '../../world/model/prompt.ts';
import { newId } from '../../world/random.ts';
import { inputsOf } from './embeddings.ts';
import { nowInSeconds } from './now-in-seconds.ts';

/** Every prompt is completed `n` times; what a client asked to `echo` stands before the answer. */
export function answerCompletion(body: JsonObject, content: Content): DialectAnswer {
  const prompts = inputsOf(body.prompt);
  const n = Number(body.n ?? 1);
  const said = content.text ?? '';
  const choices = prompts.flatMap((prompt, position) =>
    Array.from({ length: n }, (_, sample) => {
      const text = body.echo === true && typeof prompt === 'string' ? `${prompt}${said}` : said;
      const logprobs = typeof body.logprobs === 'number' ? logprobsOf(text) : null;
      return { text, index: position * n + sample, logprobs, finish_reason: 'stop' };
    }),
  );
  const inputTokens = estimateTokens(body.prompt);
  const outputTokens = estimateTokens(said) * choices.length;
  return {
    inputTokens,
    outputTokens,
    body: {
      id: newId('cmpl-'),
      object: 'text_completion',
      created: nowInSeconds(),
      model: String(body.model),
      choices,
    },
  };
}

/** The whole text as one token: enough to have the right shape. */
function logprobsOf(text: string) {
  return {
    tokens: [text],
    token_logprobs: [-0.1],
    top_logprobs: [{ [text]: -0.1 }],
    text_offset: [0],
  };
}
