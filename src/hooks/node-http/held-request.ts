import type { ClientRequest } from 'node:http';
import { comesFromTimer } from '../abort-guard/abort-guard.ts';
import type { HookScope, RawAnswer } from '../border.ts';
import { type RawRequest, rawCall } from '../raw-call.ts';
import {
  connect,
  createFakeSocket,
  type Fact,
  type FakeSocket,
  factWithoutConnection,
  isServerFact,
  type Setting,
  type SocketPeer,
} from './fake-socket.ts';
import { takeOffHeader } from './judged-request.ts';
import { writeResponse } from './raw-response.ts';
import { type AgentRequest, Replay } from './replay.ts';
import { RequestReader } from './request-reader.ts';
import { responseStatus } from './response-status.ts';

/** A request that may be captured. */
export interface Candidate extends AgentRequest {
  readonly scope: HookScope;
  readonly secure: boolean;
  /** Its client has a check of the server's certificate of its own. */
  readonly checksServer: boolean;
  /** The URL, with the path that the client has written. */
  urlOf(path: string): string | undefined;
}

/** Gives a request a fake socket, reads what its client writes, and hands it to the scope. */
export function holdRequest(candidate: Candidate): void {
  const held = new HeldRequest(candidate);
  const { request } = candidate as { request: ClientRequest & { onSocket(to: FakeSocket): void } };
  request.onSocket(held.socket);
  // Behind the tick in which the client gets the socket.
  process.nextTick(() => held.connect());
}

class HeldRequest implements SocketPeer {
  readonly socket: FakeSocket;
  readonly #candidate: Candidate;
  readonly #reader = new RequestReader();
  readonly #settings = new Map<Setting, readonly unknown[]>();
  readonly #abort = new AbortController();
  /** `asked`: the scope has the request and has not answered it. */
  #phase: 'reading' | 'asked' | 'decided' = 'reading';
  /** The client looks at the server before it has written everything: it gets a real one. */
  #checksServer: boolean;
  /** We have answered `Expect: 100-continue`. */
  #continued = false;
  #replay: Replay | undefined;

  constructor(candidate: Candidate) {
    this.#candidate = candidate;
    this.#checksServer = candidate.checksServer;
    this.socket = createFakeSocket(this, candidate.secure);
    // Node emits this for the agent to reuse the socket; a fake one cannot be reused.
    this.socket.once('free', () => {
      this.#replay?.free();
      this.socket.destroy();
    });
    this.socket.once('agentRemove', () => this.#replay?.removeFromAgent());
    candidate.request.once('finish', () => this.#clientHasWritten());
  }

  /** A client that looks at the server is told of the real connection. */
  connect(): void {
    if (this.#checksServer) return;
    connect(this.socket, () => this.#candidate.secure && !this.#checksServer);
  }

  receive(bytes: Buffer, done: (error?: Error | null) => void): void {
    if (this.#replay) {
      this.#replay.write(bytes, done);
      return;
    }
    this.#reader.add(bytes);
    if (this.#phase === 'reading') this.#checkProgress();
    done();
  }

  resume(): void {
    this.#replay?.resume();
  }

  changeSetting(setting: Setting, values: readonly unknown[]): void {
    // Deleted first, so that the replay applies settings in the order of their last change.
    this.#settings.delete(setting);
    this.#settings.set(setting, values);
    this.#replay?.changeSetting(setting, values);
  }

  finish(): void {
    this.#replay?.finish();
  }

  destroyed(error: Error | null): void {
    this.#replay?.close();
    if (this.#phase !== 'asked') return;
    this.#phase = 'decided';
    if (comesFromTimer(error)) this.#abort.abort('timeout');
    else if (error === null) this.#abort.abort();
    else this.#abort.abort(error);
  }

  readFact(name: Fact): unknown {
    if (isServerFact(name)) this.listensToTls();
    const connection = this.#replay?.connection;
    if (connection) {
      const value: unknown = Reflect.get(connection, name);
      return typeof value === 'function' ? value.bind(connection) : value;
    }
    // Every socket says so before its handshake.
    if (name === 'authorizationError' && this.#checksServer) return null;
    return factWithoutConnection(name);
  }

  listensToTls(): void {
    if (this.#phase !== 'reading') return;
    this.#checksServer = true;
    const { request } = this.#candidate;
    if (takeOffHeader(request)) this.#passThrough();
    else this.#ask(request.path, { headers: {}, body: Buffer.alloc(0) });
  }

  #checkProgress(): void {
    const { head, state } = this.#reader;
    // The connection of an upgrade stops being HTTP.
    if (state === 'broken' || head?.headers.upgrade !== undefined) this.#passThrough();
    else if (state === 'complete') this.#askScope();
    else if (state === 'body' && !this.#continued && expectsContinue(head?.headers)) {
      this.#continued = true;
      process.nextTick(() => this.#sendContinue());
    }
  }

  #sendContinue(): void {
    if (!this.socket.destroyed) this.socket.push('HTTP/1.1 100 Continue\r\n\r\n');
  }

  /** A body that ends too early passes through: the server answers it. */
  #clientHasWritten(): void {
    if (this.#phase === 'reading' && !this.socket.destroyed) this.#passThrough();
  }

  #askScope(): void {
    const { head, body } = this.#reader;
    if (head === undefined) this.#passThrough();
    else this.#ask(head.path, { headers: head.headers, body });
  }

  #ask(path: string, { headers, body }: Pick<RawRequest, 'headers' | 'body'>): void {
    const { scope, request, urlOf } = this.#candidate;
    const url = urlOf(path);
    if (url === undefined) {
      this.#passThrough();
      return;
    }
    this.#phase = 'asked';
    const checksServer = this.#checksServer;
    const answered = () => responseStatus(request);
    const call = rawCall({ url, headers, body, checksServer, answered }, this.#abort.signal);
    const asking = async () => scope.handle(call);
    asking().then(
      (answer) => this.#answer(answer),
      (error: unknown) => this.#fail(error),
    );
  }

  #answer(answer: RawAnswer | undefined): void {
    if (this.#phase !== 'asked') return;
    if (answer === undefined) {
      this.#passThrough();
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

  #passThrough(): void {
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

function expectsContinue(headers: Readonly<Record<string, string>> | undefined): boolean {
  return headers?.expect?.toLowerCase() === '100-continue';
}

/** The header `x-batchling: off` is meant for us and is not sent. */
function withoutOurHeader(bytes: Buffer): Buffer {
  const end = bytes.indexOf('\r\n\r\n');
  const head = bytes.toString('latin1', 0, end + 2);
  const ours = /\r\nx-batchling:[ \t]*off[ \t]*(?=\r\n)/i;
  if (end < 0 || !ours.test(head)) return bytes;
  return Buffer.concat([Buffer.from(head.replace(ours, ''), 'latin1'), bytes.subarray(end + 2)]);
}
