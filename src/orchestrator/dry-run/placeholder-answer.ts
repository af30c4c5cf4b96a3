import { messageOf } from '../../base/errors.ts';
import { parseObject } from '../../base/json.ts';
import type { Answer } from '../../base/types.ts';
import type { FanOut } from '../../batchers/batcher.ts';
import { Slice } from '../../concurrency/event-loop.ts';
import { isSuccess } from '../../streams/stream-dialect.ts';
import { answerCall, refuseCall } from '../answer/delivery.ts';
import { ownAnswer } from '../answer/own-answer.ts';
import type { Part, Prepared } from '../capture/prepare.ts';
import { type AnswerSource, factsOf } from '../events/events.ts';
import type { CapturedCall } from '../model/call.ts';

/** A call of a dry run that waits for the end of its round. */
export interface PendingCall extends Prepared {
  readonly call: CapturedCall;
  /** The answers to its parts that the ledger has. */
  readonly known: readonly (Answer | undefined)[];
}

/** Answers calls so that the program goes on. */
export async function answerWithPlaceholders(calls: readonly PendingCall[]): Promise<void> {
  const slice = new Slice();
  for (const pending of calls) {
    if (slice.isOver) await slice.next();
    await answerWithPlaceholder(pending);
  }
}

async function answerWithPlaceholder(pending: PendingCall): Promise<void> {
  const { call, parts, known } = pending;
  try {
    const answers = await Promise.all(
      parts.map((part, index) => known[index] ?? placeholderAnswer(call, part)),
    );
    answerPlanned(call, pending, answers, 'batch');
  } catch (error) {
    const facts = factsOf(call.target.batcher, parts[0].route);
    refuseCall(call, facts, 'dry_run', `No placeholder can be made: ${messageOf(error)}`);
  }
}

/** Hands a call the one answer that is made of those to its parts. */
export function answerPlanned(
  call: CapturedCall,
  { parts, join }: Prepared,
  answers: readonly Answer[],
  source: AnswerSource,
): void {
  const told = toldAs(answers, parts[0], join);
  const facts = factsOf(call.target.batcher, parts[0].route);
  const event = { ...facts, status: told.status, source };
  answerCall(call, event, { answer: told, source, itemId: '' });
}

/** An answer of the provider's shape that says nothing; an error where a provider has no such answer. */
async function placeholderAnswer(
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
function toldAs(
  answers: readonly Answer[],
  { route }: Part,
  join: FanOut['join'] | undefined,
): Answer {
  const failed = answers.find((answer) => !isSuccess(answer));
  const answer = failed ?? (join ? join(answers) : (answers[0] as Answer));
  return route.stream && isSuccess(answer) ? route.stream(answer) : answer;
}
