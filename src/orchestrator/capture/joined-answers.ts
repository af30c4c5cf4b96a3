import { messageOf } from '../../base/errors.ts';
import type { Answer } from '../../base/types.ts';
import type { FanOut } from '../../batchers/batcher.ts';
import { answerCall } from '../answer/delivery.ts';
import { ownAnswer } from '../answer/own-answer.ts';
import type { BatchlingEvents } from '../events/events.ts';
import type { Delivery, RealtimeRoute } from '../model/call.ts';
import type { Caller, CallPart } from '../model/caller.ts';

type Answered = BatchlingEvents['call:answered'];

/**
 * The answers to a call that needs several requests. The call is answered when all of them have their
 * answer, or with the first error. Parts that are not in a batch by then are never sent.
 */
export class JoinedAnswers {
  readonly #whole: Caller;
  readonly #parts: readonly Caller[];
  readonly #join: FanOut['join'];
  readonly #deliveries: Delivery[] = [];
  readonly #events: Answered[] = [];
  #missing: number;
  /** A part of it is to go out as an ordinary call. */
  #route: RealtimeRoute | undefined;

  constructor(whole: Caller, parts: readonly Caller[], join: FanOut['join']) {
    this.#whole = whole;
    this.#parts = parts;
    this.#join = join;
    this.#missing = parts.length;
    whole.parts = parts;
    for (const [index, part] of parts.entries()) part.part = this.#part(index);
  }

  #hasBegun(): boolean {
    return this.#deliveries.length > 0 || this.#parts.some(({ isSent }) => isSent);
  }

  #part(index: number): CallPart {
    return {
      hasBegun: () => this.#hasBegun(),
      answered: (event, delivery) => this.#answered(index, event, delivery),
      goesRealtime: (route) => this.#goRealtime(route),
      goesUnbatched: (bypass) => {
        this.#whole.call.settle({ bypass });
        this.#dropTheRest();
      },
    };
  }

  #answered(index: number, event: Answered, delivery: Delivery): void {
    if (delivery.answer.status >= 400) {
      answerCall(this.#whole.call, sumOf([...this.#events, event]), delivery);
      this.#dropTheRest();
      return;
    }
    this.#deliveries[index] = delivery;
    this.#events.push(event);
    this.#missing -= 1;
    this.#endIfKnown();
  }

  #goRealtime(route: RealtimeRoute): void {
    this.#route = route;
    this.#missing -= 1;
    this.#endIfKnown();
  }

  /** Only the whole call can go out; where parts of it are paid for already, that would pay twice. */
  #endIfKnown(): void {
    const { call } = this.#whole;
    const route = this.#route;
    if (route === undefined) {
      if (this.#missing === 0) this.#answerWhole();
      return;
    }
    if (this.#deliveries.length > 0) {
      const message = 'The deadline passed before all parts of the call had an answer.';
      const answer = ownAnswer(call.target.batcher, 'deadline', message);
      const event = { ...route.facts, status: answer.status, source: 'batch' } as const;
      const told = sumOf([...this.#events, event]);
      answerCall(call, told, { answer, source: 'batch', itemId: '' });
    } else if (this.#hasBegun()) {
      // What becomes of the parts in a batch decides.
      return;
    } else {
      call.settle({ realtime: route });
    }
    this.#dropTheRest();
  }

  #answerWhole(): void {
    const answer = this.#joined();
    const joined = { ...(this.#deliveries.at(-1) as Delivery), answer, itemId: '' };
    answerCall(this.#whole.call, { ...sumOf(this.#events), status: answer.status }, joined);
  }

  #joined(): Answer {
    try {
      const joined = this.#join(this.#deliveries.map(({ answer }) => answer));
      // Made of an answer to a part, it may hold the parsed body of that part.
      return { ...joined, json: undefined };
    } catch (error) {
      const message = `The answers to the parts of the call cannot be joined: ${messageOf(error)}`;
      return ownAnswer(this.#whole.call.target.batcher, 'unsupported', message);
    }
  }

  #dropTheRest(): void {
    for (const part of this.#parts) part.abort();
  }
}

/** One event for the call, as its last part was answered, with what its parts have cost together. */
function sumOf(events: readonly Answered[]): Answered {
  const sum = (of: (event: Answered) => number | undefined) =>
    events.reduce((total, event) => total + (of(event) ?? 0), 0);
  const paid = sum(({ dollars }) => dollars?.paid);
  const saved = sum(({ dollars }) => dollars?.saved);
  return {
    ...(events.at(-1) as Answered),
    ...(events.some(({ inputTokens }) => inputTokens !== undefined) && {
      inputTokens: sum(({ inputTokens }) => inputTokens),
      outputTokens: sum(({ outputTokens }) => outputTokens),
    }),
    ...(events.some(({ dollars }) => dollars) && { dollars: { paid, saved } }),
  };
}
