import type { ClientRequest } from 'node:http';
import type { Dict } from '../../base/types.ts';
import type { RequestJudge } from '../border.ts';
import { resemble } from '../patch-registry.ts';

/** A judge sees this many characters of a body at most. */
const enough = 16_384;

type Write = (this: ClientRequest, chunk?: unknown, ...rest: unknown[]) => unknown;

/**
 * Shows the beginning of a request to its judge while the request goes out over its real socket. Nothing
 * is held: `write` and `end` of this one request hand everything on in the same turn, and are the native
 * ones again once the judge has seen enough.
 */
export function judgeRequest(request: ClientRequest, { isCertain, judge }: RequestJudge): void {
  let start = '';
  let written = 0;
  let isJudged = false;

  const isRefused = (chunk: unknown, isEnd: boolean): boolean => {
    // A tracer that wraps requests, too, has kept our functions.
    if (isJudged) return false;
    const isOff = takeOffHeader(request);
    start += beginningOf(chunk, enough - start.length);
    written += sizeOf(chunk);
    // For the server a body is complete when it has its full length, even before `end` is called.
    const isComplete = isEnd || written >= Number(request.getHeader('content-length'));
    if (!isOff && !isCertain && !isComplete && start.length < enough) return false;
    isJudged = true;
    for (const undoOne of undo) undoOne();
    const refusal = isOff ? undefined : judge(headersOf(request), start);
    if (refusal) request.destroy(refusal);
    return refusal !== undefined;
  };

  const watch = (name: 'write' | 'end') => {
    const original = request[name] as Write;
    const watching: Write = function (...values) {
      // Nothing is written to a request that was just destroyed: that would be a second error.
      if (isRefused(values[0], name === 'end')) return name === 'end' ? this : false;
      return Reflect.apply(original, this, values);
    };
    resemble(watching, original);
    Object.defineProperty(request, name, { value: watching, configurable: true, writable: true });
    return () => {
      if (request[name] === watching) Reflect.deleteProperty(request, name);
    };
  };
  const undo = [watch('write'), watch('end')];
}

/** Whether the request opts out of capture; the header that says so is removed. */
export function takeOffHeader(request: ClientRequest): boolean {
  // Headers that are already written are removed from the bytes by the held request.
  if (request.headersSent || request.getHeader('x-batchling') !== 'off') return false;
  request.removeHeader('x-batchling');
  return true;
}

function beginningOf(chunk: unknown, length: number): string {
  if (typeof chunk === 'string') return chunk.slice(0, length);
  if (!ArrayBuffer.isView(chunk)) return '';
  const { buffer, byteOffset, byteLength } = chunk;
  return Buffer.from(buffer, byteOffset, Math.min(byteLength, length)).toString('latin1');
}

function sizeOf(chunk: unknown): number {
  if (typeof chunk === 'string') return Buffer.byteLength(chunk);
  return ArrayBuffer.isView(chunk) ? chunk.byteLength : 0;
}

/** Lower-case names. Headers that were given as a list are not seen. */
function headersOf(request: ClientRequest): Dict {
  const headers = Object.entries(request.getHeaders());
  return Object.fromEntries(headers.map(([name, value]) => [name, String(value)]));
}
