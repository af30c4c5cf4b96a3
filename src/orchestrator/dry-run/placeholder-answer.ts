import type { FanOut } from '../../batchers/batcher.ts';
import { isSuccess } from '../../streams/stream-dialect.ts';
import type { Answer } from '../../types.ts';
import { parseObject } from '../capture/parse-object.ts';
import type { Part } from '../capture/prepare.ts';
import type { CapturedCall } from '../model/call.ts';
import { ownAnswer } from '../model/own-answer.ts';

/** An answer of the provider's shape that says nothing; an error where a provider has no such answer. */
export async function placeholderAnswer(
  { target: { batcher } }: CapturedCall,
  { route }: Part,
): Promise<Answer> {
  const json = await batcher.placeholder(route, parseObject(route.body) ?? {});
  if (json === undefined) {
    const message = `A dry run has no placeholder for ${route.endpoint} of ${batcher.info.name}.`;
    return ownAnswer(batcher, 'dry_run', message);
  }
  const headers = {
    'content-type': 'application/json',
    [batcher.info.requestIdHeader]: 'placeholder',
  };
  return { status: 200, headers, body: JSON.stringify(json) };
}

/** What the caller gets of the answers to its parts: one answer, as a stream if it asked for one. */
export function toldAs(
  answers: readonly Answer[],
  { route }: Part,
  join: FanOut['join'] | undefined,
): Answer {
  const failed = answers.find((answer) => !isSuccess(answer));
  const answer = failed ?? (join ? join(answers) : (answers[0] as Answer));
  return route.stream && isSuccess(answer) ? route.stream(answer) : answer;
}
