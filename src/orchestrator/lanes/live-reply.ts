import type { Answer } from '../../base/types.ts';
import type { WireReply } from '../../http/wire.ts';
import type { LiveStream } from '../../streams/live-stream.ts';

/** A reply that is passed on to its caller while it is read. */
export interface LiveReply {
  /** The body for the caller. */
  readonly bytes: ReadableStream<Uint8Array>;
  /** The answer in one piece, when all of it has come; `undefined`: the stream has not told all of it. */
  readonly whole: Promise<Answer | undefined>;
}

/** Whether the provider streams indeed: errors come in one piece. */
export function isStream({ status, headers }: Pick<WireReply, 'status' | 'headers'>): boolean {
  return status === 200 && (headers['content-type'] ?? '').startsWith('text/event-stream');
}

/**
 * Passes a stream of events on as it comes. It is read to its end even if the caller stops reading: it is paid for,
 * and its answer is kept. What the caller has not read yet is held, which is no more than an answer in one piece.
 * An abort of `left` ends the body for the caller.
 */
export function liveReply(reply: WireReply, live: LiveStream, left: AbortSignal): LiveReply {
  let isOpen = true;
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const bytes = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given;
    },
    cancel() {
      isOpen = false;
    },
  });
  const fail = (reason: unknown) => {
    if (isOpen) controller.error(reason);
    isOpen = false;
  };
  left.addEventListener('abort', () => fail(left.reason));
  const encoder = new TextEncoder();
  const pass = (text: string) => {
    if (isOpen) controller.enqueue(encoder.encode(text));
  };
  const whole = read(reply, live, pass).then(
    (answer) => {
      if (isOpen) controller.close();
      return answer;
    },
    (error: unknown) => {
      fail(error);
      throw error;
    },
  );
  return { bytes, whole };
}

async function read(
  reply: WireReply,
  live: LiveStream,
  pass: (text: string) => void,
): Promise<Answer | undefined> {
  const answer = live.newAnswer();
  const decoder = new TextDecoder();
  let rest = '';
  const passEvents = (events: readonly string[]) => {
    for (const event of events) if (isShown(event, answer)) pass(event);
  };
  for await (const chunk of reply.bytes()) {
    const pieces = (rest + decoder.decode(chunk, { stream: true })).split(/(?<=\r?\n\r?\n)/);
    const isWhole = /\n\r?\n$/.test(pieces.at(-1) ?? '');
    rest = isWhole ? '' : (pieces.pop() ?? '');
    passEvents(pieces);
  }
  passEvents([rest]);
  const { json } = answer;
  if (json === undefined) return undefined;
  const headers = { ...reply.headers, 'content-type': 'application/json' };
  return { status: reply.status, headers, body: JSON.stringify(json), json };
}

/** Comments, `[DONE]` and whatever is no JSON are passed on without a look. */
function isShown(event: string, answer: ReturnType<LiveStream['newAnswer']>): boolean {
  if (event === '') return false;
  // Only CR and LF end a line here: a text may hold U+2028, at which `.` and `$` stop.
  const data = /(?:^|\n)data: ?(\{[^\r\n]*)/.exec(event)?.[1];
  if (data === undefined) return true;
  try {
    return answer.add(JSON.parse(data) as Record<string, unknown>);
  } catch {
    return true;
  }
}
