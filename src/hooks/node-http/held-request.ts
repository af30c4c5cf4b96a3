import type { ClientRequest } from 'node:http';
import { isDeadline } from '../abort-guard/timer-abort.ts';
import { RequestReader } from '../fetch/request-reader.ts';
import { responseStatus } from '../fetch/response-status.ts';
import type { HookScope, RawAnswer } from '../state.ts';
import { markCaptured } from './captured-requests.ts';
import {
  connect,
  createFakeSocket,
  type FakeSocket,
  type FarEnd,
  type Setting,
} from './fake-socket.ts';
import { writeResponse } from './raw-response.ts';
import { type Passage, Replay } from './replay.ts';

/** A request that may be captured, with where it leads and how it would have gone out. */
export interface Candidate extends Passage {
  readonly scope: HookScope;
  readonly secure: boolean;
  /** Where it leads, with the path as it came over the wire. */
  urlOf(path: string): string | undefined;
}

/** Gives a request a fake socket, reads what its client writes, and lets the scope decide. */
export function holdRequest(candidate: Candidate): void {
  const { socket } = new HeldRequest(candidate);
  const { request, secure } = candidate;
  markCaptured(request);
  (request as ClientRequest & { onSocket(socket: FakeSocket): void }).onSocket(socket);
  connect(socket, secure);
}

class HeldRequest implements FarEnd {
  readonly socket: FakeSocket;
  readonly #candidate: Candidate;
  readonly #reader = new RequestReader();
  readonly #settings = new Map<Setting, readonly unknown[]>();
  readonly #abort = new AbortController();
  #phase: 'reading' | 'asked' | 'decided' = 'reading';
  #continued = false;
  #replay: Replay | undefined;

  constructor(candidate: Candidate) {
    this.#candidate = candidate;
    this.socket = createFakeSocket(this, candidate.secure);
    // Said to the agent: here is nobody else who could use it.
    this.socket.once('free', () => {
      this.#replay?.free();
      this.socket.destroy();
    });
    this.socket.once('agentRemove', () => this.#replay?.leaveAgent());
    candidate.request.once('finish', () => this.#written());
  }

  receive(bytes: Buffer, done: (error?: Error | null) => void): void {
    if (this.#replay) {
      this.#replay.write(bytes, done);
      return;
    }
    this.#reader.add(bytes);
    if (this.#phase === 'reading') this.#look();
    done();
  }

  resume(): void {
    this.#replay?.resume();
  }

  tune(setting: Setting, values: readonly unknown[]): void {
    // Taken out first, so that the last one made comes last.
    this.#settings.delete(setting);
    this.#settings.set(setting, values);
    this.#replay?.tune(setting, values);
  }

  finish(): void {
    this.#replay?.finish();
  }

  gone(error: Error | null): void {
    this.#replay?.drop();
    if (this.#phase !== 'asked') return;
    this.#phase = 'decided';
    if (isDeadline(error)) this.#abort.abort('timeout');
    else if (error === null) this.#abort.abort();
    else this.#abort.abort(error);
  }

  #look(): void {
    const { head, state } = this.#reader;
    if (state === 'broken' || (head && isUnfit(head.method, head.headers))) this.#letOut();
    else if (state === 'complete') this.#ask();
    else if (state === 'body' && !this.#continued && expectsContinue(head?.headers)) {
      this.#continued = true;
      process.nextTick(() => this.#goOn());
    }
  }

  #goOn(): void {
    if (!this.socket.destroyed) this.socket.push('HTTP/1.1 100 Continue\r\n\r\n');
  }

  /** The client has no more to say; a body that ends too early is for the server to judge. */
  #written(): void {
    if (this.#phase === 'reading' && !this.socket.destroyed) this.#letOut();
  }

  #ask(): void {
    const { head, body } = this.#reader;
    const { scope, urlOf, request } = this.#candidate;
    const url = head && urlOf(head.path);
    if (head === undefined || url === undefined) {
      this.#letOut();
      return;
    }
    this.#phase = 'asked';
    const { method, headers } = head;
    const answered = () => responseStatus(request);
    scope.handleRequest({ method, url, headers, body, answered }, this.#abort.signal).then(
      (answer) => this.#decide(answer),
      (error: unknown) => this.#fail(error),
    );
  }

  #decide(answer: RawAnswer | undefined): void {
    if (this.#phase !== 'asked') return;
    if (answer === undefined) {
      this.#letOut();
      return;
    }
    this.#phase = 'decided';
    this.socket.push(writeResponse(answer));
  }

  #fail(error: unknown): void {
    if (this.#phase !== 'asked') return;
    this.#phase = 'decided';
    this.socket.destroy(error instanceof Error ? error : new Error(String(error)));
  }

  #letOut(): void {
    this.#phase = 'decided';
    const bytes = withoutOurHeader(this.#reader.bytes);
    try {
      this.#replay = new Replay(
        this.#candidate,
        this.socket,
        this.#settings,
        bytes,
        this.#continued,
      );
    } catch (error) {
      this.socket.destroy(error as Error);
    }
  }
}

/** The connection of these becomes something else than HTTP. */
function isUnfit(method: string, headers: Readonly<Record<string, string>>): boolean {
  return method === 'CONNECT' || headers.upgrade !== undefined;
}

function expectsContinue(headers: Readonly<Record<string, string>> | undefined): boolean {
  return headers?.expect?.toLowerCase() === '100-continue';
}

/** The header `x-batchling: off` is for us alone. */
function withoutOurHeader(bytes: Buffer): Buffer {
  const end = bytes.indexOf('\r\n\r\n');
  const head = bytes.toString('latin1', 0, end + 2);
  const ours = /\r\nx-batchling:[ \t]*off[ \t]*(?=\r\n)/i;
  if (end < 0 || !ours.test(head)) return bytes;
  return Buffer.concat([Buffer.from(head.replace(ours, ''), 'latin1'), bytes.subarray(end + 2)]);
}
