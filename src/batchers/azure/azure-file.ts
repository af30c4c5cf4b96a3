import { field, text } from '../../base/json.ts';
import { sleep } from '../../concurrency/backoff.ts';
import type { Wire } from '../../http/wire.ts';
import type { ReplyJudge } from '../shared/judge-reply.ts';
import { RefusedError } from '../shared/refused-error.ts';
import { expectOk, ReplyError } from '../shared/replies.ts';
import { idOf } from '../shared/reply-shapes.ts';

const firstPause = 1_000;
const longestPause = 5_000;
const patience = 10 * 60_000;

/** Words for a file that no batch can be made of. */
const spoiled = new Set(['error', 'failed', 'canceled', 'cancelled', 'deleting', 'deleted']);

interface FileState {
  /** The provider's word, in lower case. */
  readonly status: string;
  readonly details: string | undefined;
}

/**
 * Waits until the provider has looked through an uploaded file: a create that comes earlier is refused.
 * Nothing is billed here, so what goes wrong may well begin anew.
 */
export async function untilProcessed(wire: Wire, path: string, judge: ReplyJudge): Promise<void> {
  const until = wire.clock.now() + patience;
  for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
    const { status, details } = await look(wire, path, judge);
    if (status === 'processed') return;
    if (spoiled.has(status)) throw notTaken(status, details && wire.redact(details));
    if (wire.clock.now() >= until) throw notProcessed(status);
    await sleep(wire.clock, pause);
  }
}

async function look(wire: Wire, path: string, judge: ReplyJudge): Promise<FileState> {
  try {
    const file = await (await expectOk(wire, { method: 'GET', path }, judge)).json();
    idOf(file, 'a file');
    // Some versions of the API say nothing: then there is nothing to wait for.
    const status = text(field(file, 'status')) ?? 'processed';
    const told = field(file, 'status_details');
    return { status: status.toLowerCase(), details: text(told) ?? text(field(told, 'message')) };
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error;
    // A fresh file is not known everywhere at once, and to send it again is no cure for a busy service.
    const { meaning } = error.failure;
    const passes = meaning === 'gone' || meaning === 'busy' || meaning === 'full';
    if (!passes) throw error;
    return { status: 'pending', details: undefined };
  }
}

function notTaken(status: string, details: string | undefined): RefusedError {
  const message = `Azure did not take the input file (${status}): ${details ?? 'it gives no reason'}.`;
  const code = 'input_file_not_taken';
  return new RefusedError({
    code,
    message,
    meaning: 'refused',
    next: 'fail',
    answer: {
      status: 400,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        error: { message, type: 'invalid_request_error', param: null, code },
      }),
    },
  });
}

function notProcessed(status: string): RefusedError {
  const message = `Azure has had the input file for ten minutes and it is still ${status}.`;
  return new RefusedError({ code: 'file_pending', message, meaning: 'busy', next: 'later' });
}
