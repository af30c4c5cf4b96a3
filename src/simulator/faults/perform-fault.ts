import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Exchange, jsonReply, type Reply, readBytes } from '../server/exchange.ts';
import {
  sendChunked,
  sendClosing,
  sendEncoded,
  sendPage,
  sendReply,
  sendTrickle,
  sendTruncated,
} from '../server/send-reply.ts';
import type { Clockwork } from '../world/clockwork.ts';
import type { FaultAction } from './faults.ts';

export interface StruckExchange {
  request: IncomingMessage;
  response: ServerResponse;
  exchange: Exchange;
  clock: Clockwork;
  /** Does what the request asks for. */
  work(exchange: Exchange): Promise<Reply>;
  /** An error in the provider's shape, for a `status` fault without a body of its own. */
  scriptedError(status: number): Reply;
}

/** Carries out a scripted fault on one request. */
export async function performFault(action: FaultAction, struck: StruckExchange): Promise<void> {
  const { request, response, exchange, clock, work } = struck;
  switch (action.kind) {
    case 'reset':
      return reset(request);
    case 'reset-mid-body':
      for await (const _chunk of exchange.body) break;
      return reset(request);
    case 'lost':
      await work(exchange);
      return drop(request);
    case 'late': {
      const bytes = await readBytes(exchange.body);
      drop(request);
      await clock.sleep(action.ms);
      await work({ ...exchange, body: only(bytes) });
      return;
    }
    case 'hang':
      await clock.sleep(action.ms);
      return reset(request);
    case 'delay': {
      const reply = await work(exchange);
      await clock.sleep(action.ms);
      return sendReply(response, reply);
    }
    case 'truncate':
      return sendTruncated(response, await work(exchange));
    case 'chunked':
      return sendChunked(response, await work(exchange));
    case 'closing':
      return sendClosing(response, await work(exchange), action.cut === true);
    case 'trickle':
      return sendTrickle(response, await work(exchange), () => clock.sleep(action.ms));
    case 'refuse-mid-body':
      for await (const _chunk of exchange.body) break;
      return sendPage(response, action.status);
    case 'garbage':
      await work(exchange);
      return sendReply(response, { status: 200, body: '<html>this is not JSON</html>' });
    case 'encoded':
      return sendEncoded(response, await work(exchange), action.encoding);
    case 'status':
      // The body is read even when it is of no use: an answer in the middle of an upload
      // would be another fault than the one that was asked for.
      await (action.accept === true ? work(exchange) : readBytes(exchange.body));
      return sendReply(response, statusReply(action, struck));
  }
}

function statusReply(
  action: Extract<FaultAction, { kind: 'status' }>,
  struck: StruckExchange,
): Reply {
  const { status, body } = action;
  const reply = body === undefined ? struck.scriptedError(status) : replyOf(body, status);
  return { ...reply, headers: { ...reply.headers, ...action.headers } };
}

function replyOf(body: unknown, status: number): Reply {
  return typeof body === 'string' ? { status, body } : jsonReply(body, status);
}

function reset(request: IncomingMessage): void {
  request.socket.resetAndDestroy();
}

function drop(request: IncomingMessage): void {
  request.socket.destroy();
}

async function* only(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
