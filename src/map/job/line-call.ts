import { messageOf } from '../../base/errors.ts';
import type { Answer, Dict } from '../../base/types.ts';
import type { Target } from '../../orchestrator/capture/router.ts';
import type {
  CallHandle,
  CapturedCall,
  EngineScope,
  RealtimeRoute,
  Verdict,
} from '../../orchestrator/model/call.ts';
import type { Sampling } from '../../orchestrator/model/sampling.ts';
import { ownError } from './own-error.ts';

const noHeaders: Dict = {};

/** What the job does for its lines. */
export interface LineOwner {
  /** Sends a line as an ordinary call. */
  send(line: LineCall, route: RealtimeRoute): Promise<Answer>;
  onSettled(): void;
}

/** What a line is to the engine: a call that nobody has made. */
export class LineCall implements CapturedCall {
  readonly scope: EngineScope;
  readonly target: Target;
  headers: Dict;
  body: string;
  readonly aborted = false;
  readonly abandoned = false;
  readonly sampling: Sampling;
  settled = false;
  /** An error, or an answer that the ledger does not know. */
  answer: Answer | undefined;
  handle: CallHandle | undefined;
  /** Its place in its chunk. */
  readonly place: number;
  readonly #owner: LineOwner | undefined;

  constructor(
    { scope, target, headers, body }: Pick<LineCall, 'scope' | 'target' | 'headers' | 'body'>,
    sampling: Sampling,
    place: number,
    owner?: LineOwner,
  ) {
    this.scope = scope;
    this.target = target;
    this.headers = headers;
    this.body = body;
    this.sampling = sampling;
    this.place = place;
    this.#owner = owner;
  }

  settle(verdict: Verdict): void {
    if (this.settled) return;
    if ('answer' in verdict) {
      const { answer } = verdict;
      this.#end(answer.status >= 400 ? { ...answer, json: undefined } : undefined);
    } else if ('realtime' in verdict && this.#owner) {
      void this.#owner.send(this, verdict.realtime).then((answer) => this.#end(answer));
    } else this.#end(ownError(400, 'batchling_unsupported', whyUnsent(verdict)));
  }

  fail(reason: unknown): void {
    if (!this.settled) this.#end(ownError(400, 'batchling_unsupported', messageOf(reason)));
  }

  drop(): void {
    this.fail('The job was stopped.');
  }

  taken(): void {
    // A line that may yet have to go out as an ordinary call keeps what that takes.
    if (this.scope.onDeadline === 'realtime' || this.scope.minBatch > 1) return;
    this.headers = noHeaders;
    this.body = '';
  }

  #end(answer: Answer | undefined): void {
    this.settled = true;
    this.answer = answer;
    this.taken();
    this.#owner?.onSettled();
  }
}

/** Nobody has said that such a line may be paid for at full price. */
function whyUnsent(verdict: Exclude<Verdict, { answer: Answer }>): string {
  if ('bypass' in verdict) return `The line cannot be batched: ${verdict.bypass}`;
  return 'The option "only" leaves the line out.';
}
