import type { Answer, Clock, Dict } from '../base/types.ts';

// The border between hooks and scopes. Two copies of the package can live in one process, and a hook of one may meet
// a scope of the other: these shapes must stay compatible within a version of the shared state.

/** The signature of `fetch`. */
export type Fetch = typeof globalThis.fetch;

/** A scope as hooks know it. */
export interface HookScope {
  readonly open: boolean;
  /** false: only the scope's own `fetch` captures, not the global one. */
  readonly hooked: boolean;
  readonly parent: ScopeOrRealtime | undefined;
  /**
   * Handles a call made inside the scope. `undefined`: the scope does not care, and the hook sends the call
   * itself, so that its stack shows no frames of ours.
   */
  handle<Result>(call: HookedCall<Result>): Promise<Result> | undefined;
  /**
   * Decides what becomes of a request of `node:http` or `node:http2` before its body is known. `checksServer`: its
   * client has a check of the server's certificate of its own.
   */
  planRequest(method: string, url: string, checksServer: boolean): RequestPlan;
  /**
   * Whether any call to the host of this URL may concern the scope. Missing: the scope belongs to a copy of the
   * package that knows no HTTP/2.
   */
  knowsHost?(url: string): boolean;
  /** Whether an active mocking tool gets this call instead of the scope; it is reported then. */
  leaveToMock(url: string, tool: string): boolean;
  /** A request has left without passing the hooks; it is reported if its URL is that of an LLM call. */
  escaped(method: string, url: string): void;
}

/** Marks code inside `realtime(fn)`: its calls are not captured. */
export interface RealtimeMark {
  readonly realtime: true;
}

/** What the async context of some code holds. */
export type ScopeOrRealtime = HookScope | RealtimeMark;

/** A call as a hook hands it to a scope: all that it takes to answer it, or to send it out after all. */
export interface HookedCall<Result = unknown> {
  /** As the client has written it; empty for calls that are no POST. */
  readonly url: string;
  /** Aborts when the client gives up; with `'timeout'` for a deadline that no timer of the process shows. */
  readonly signal: AbortSignal | undefined;
  /** For a client without a signal: keeps the captured call, which is told when the client gives up. */
  capturedAs?(call: Pick<SignalUser, 'giveUp'>): void;
  /** See `SignalUser`. */
  readonly hops?: number;
  /** Its client ends with its deadline, rather than going on to wait for us. */
  readonly endsAtDeadline?: boolean;
  /** Its client checks the server itself, so the call cannot be batched; its body may be missing. */
  readonly checksServer?: boolean;
  /** The time limit that the client has set, once it is looked for. */
  readonly timer?: ClientTimer | undefined;
  /** Looks for the time limit, which belongs to this call from then on. */
  takeTimer?(): void;
  /** Lower-case names. `undefined`: not valid headers, which fetch rejects in its own way. */
  readHeaders(): Dict | undefined;
  /** The body, if it is text that nothing has to be read for. */
  textOfBody(): string | undefined;
  /** The body for a scope that takes the call. `undefined`: not text. */
  readBody(): string | BodyToCome | undefined;
  /** The name of an active mocking tool that would get this call if batchling were not there. */
  findMock?(): string | undefined;
  /** Sends the call as its client has made it, but for the header that is meant for us. */
  send(signal?: AbortSignal): Promise<Result>;
  /** Marks what `send` has brought as an answer at full price. */
  mark?(result: Result, reader: BodyReader | undefined): Promise<Result>;
  /**
   * For a client that sends the call itself after `send`: the status of its response as soon as the head
   * has arrived; `undefined` when no response came.
   */
  answered?(): Promise<number | undefined>;
  /** Makes of an answer what the client waits for. It can be kept without the rest of the call. */
  readonly answerWith: AnswerWith<Result>;
  /** Lets go of all that only sending needs; returns what must be kept for the sake of the signal. */
  release(): HookedCall<Result> | undefined;
}

export type AnswerWith<Result> = (
  answer: Answer,
  headers: Dict,
  url: string,
  reader?: BodyReader,
) => Result | Promise<Result>;

/** The body of a call that is still being read. */
export interface BodyToCome {
  /** `undefined`: not text. */
  readonly text: Promise<string | undefined>;
  /** The body is not needed any more. */
  drop(reason: unknown): void;
}

/** Is told how far a client has read the body of its answer. */
export interface BodyReader {
  /** The client has read the whole body. */
  read(): void;
  /** The client has begun to read the body as a stream, or has reached its end or cancelled it. */
  streams(isOpen: boolean): void;
}

/** What a client that does not use fetch is answered; `undefined` in its place: it sends the call itself. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Dict;
  readonly body: string | Uint8Array;
}

/** `hold`: it gets a fake socket, until its body is complete. `leave`: nobody looks at it. */
export type RequestPlan = 'leave' | 'hold' | RequestJudge;

/** Judges a request that goes out over its real socket while its first bytes go by. */
export interface RequestJudge {
  /** The URL alone says that it is an LLM call: no byte is needed. */
  readonly isCertain: boolean;
  /** Reports an LLM call. Returns the error that ends it before its body is complete, if it must not go out. */
  judge(headers: Dict, start: string): Error | undefined;
}

/** A captured call as the watch of its signal knows it. */
export interface SignalUser {
  /** How many aborts may lie between a timer and the signal for the abort to count as a deadline. */
  readonly hops: number;
  readonly clock: Clock;
  /** A timer has aborted the signal: the client has given up. */
  giveUp(reason: unknown): void;
  /** The user has aborted the signal. */
  abort(reason: unknown): void;
}

/** The watch of a signal of captured calls. Another copy of the package may have made it. */
export interface WatchedSignal {
  add(user: SignalUser): void;
  /** The call has its answer; it leaves when its client has read the answer. */
  answered(user: SignalUser): void;
  leave(user: SignalUser): void;
  /** The client has begun to read its answer as a stream, or has reached the end of it. */
  streams(user: SignalUser, isOpen: boolean): void;
  /** Defers a timer's abort; `abort` is called when it is delivered. */
  holdBack(reason: unknown, abort: () => void): void;
  /** Resolves when the deferred abort is delivered; `undefined`: there is none. */
  whenDelivered(): Promise<void> | undefined;
  /** Runs `send` while the signal shows its true state. */
  reveal<T>(send: () => T): T;
}

/** What `setTimeout` returns; in some environments that is a number. */
export interface ClientTimer {
  unref?(): unknown;
}
