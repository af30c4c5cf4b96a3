import { EventEmitter } from 'node:events';
import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import type { FakeSocket, Setting } from './fake-socket.ts';

/** How a request would have gone out: what the agent was asked for. */
export interface Passage {
  readonly request: ClientRequest;
  /** Asks the agent for a connection. */
  askAgent(request: ClientRequest): void;
}

/** Marks a stand-in. Another copy of the package may meet it. */
const letOut = Symbol.for('batchling.http.let-out');

/** As the agent sees a request: it hands over the connection, or why there is none. */
interface StandIn extends Omit<ClientRequest, 'onSocket'> {
  [letOut]: true;
  onSocket(connection: Socket | null | undefined, error?: Error | null): void;
}

type AgentSocket = Socket & { _httpMessage?: ClientRequest | null };

/** Whether the agent is asked on behalf of a request that we have looked at already. */
export function isLetOut(request: ClientRequest): boolean {
  return letOut in request;
}

/**
 * Sends what a client has written to its fake socket over a real connection, and what comes back
 * to the client. The agent gives that connection, new or kept alive, under all its settings, and
 * takes it back; it deals with a stand-in, because the request itself has a socket already.
 */
export class Replay {
  readonly #socket: FakeSocket;
  readonly #request: ClientRequest;
  readonly #settings: ReadonlyMap<Setting, readonly unknown[]>;
  #waiting: Buffer[];
  #skipContinue: Buffer | undefined;
  #connection: AgentSocket | undefined;

  constructor(
    { request, askAgent }: Passage,
    socket: FakeSocket,
    settings: ReadonlyMap<Setting, readonly unknown[]>,
    bytes: Buffer,
    continued: boolean,
  ) {
    this.#request = request;
    this.#socket = socket;
    this.#settings = settings;
    this.#waiting = [bytes];
    // The client was told to go on by us; told again by the server, it would send its body twice.
    this.#skipContinue = continued ? Buffer.alloc(0) : undefined;
    askAgent(this.#standIn() as unknown as ClientRequest);
  }

  write(bytes: Buffer, done: (error?: Error | null) => void): void {
    if (this.#connection) {
      this.#connection.write(bytes, done);
    } else {
      this.#waiting.push(bytes);
      done();
    }
  }

  resume(): void {
    this.#connection?.resume();
  }

  tune(setting: Setting, values: readonly unknown[]): void {
    if (this.#connection) apply(this.#connection, setting, values);
  }

  finish(): void {
    this.#connection?.end();
  }

  /** The response has ended, and both sides would go on: back to the agent. */
  free(): void {
    const connection = this.#detach();
    connection?.resume();
    // Answered before it was sent: the rest would run into the next request.
    if (connection && connection.writableLength > 0) connection.destroy();
    else connection?.emit('free');
  }

  /** The connection has become something else than HTTP: the agent counts it no more. */
  leaveAgent(): void {
    this.#connection?.emit('agentRemove');
  }

  /** The client is done with its socket, and so are we, unless the agent has ours back. */
  drop(): void {
    const connection = this.#detach();
    connection?.on('error', () => undefined);
    if (this.#socket.writableEnded) connection?.destroySoon();
    else connection?.destroy();
  }

  #standIn(): StandIn {
    const standIn = Object.create(this.#request) as StandIn;
    // Gives it listeners of its own.
    EventEmitter.call(standIn);
    standIn[letOut] = true;
    standIn.on('error', (error) => this.#socket.destroy(error));
    standIn.on('timeout', () => this.#request.emit('timeout'));
    standIn.onSocket = (connection, error) => {
      this.#request.reusedSocket = standIn.reusedSocket;
      this.#arrive(connection ?? undefined, error ?? undefined);
      if (connection) process.nextTick(() => standIn.emit('socket', connection));
    };
    return standIn;
  }

  #arrive(connection: AgentSocket | undefined, error: Error | undefined): void {
    if (error || connection === undefined) {
      connection?.destroy();
      this.#socket.destroy(error);
    } else if (this.#socket.destroyed) {
      // Too late: whoever waits at the agent takes it.
      process.nextTick(() => connection.emit('free'));
    } else {
      this.#connect(connection);
    }
  }

  #connect(connection: AgentSocket): void {
    this.#connection = connection;
    // The agent looks here whether the connection may be kept alive, and for how long.
    connection._httpMessage = this.#request;
    this.#listen(connection, 'on');
    for (const bytes of this.#waiting.splice(0)) connection.write(bytes);
    if (this.#socket.writableEnded) connection.end();
    // After the agent has made its own settings, and counted from the connection on.
    const tune = () => {
      for (const [setting, values] of this.#settings) this.tune(setting, values);
    };
    if (connection.connecting) connection.once('connect', tune);
    else process.nextTick(tune);
  }

  #listen(connection: Socket, how: 'on' | 'off'): void {
    connection[how]('data', this.#onData);
    connection[how]('end', this.#onEnd);
    connection[how]('timeout', this.#onTimeout);
    connection[how]('error', this.#onError);
    connection[how]('close', this.#onClose);
  }

  readonly #onData = (chunk: Buffer) => {
    const bytes = this.#withoutContinue(chunk);
    if (bytes.length > 0 && !this.#socket.push(bytes)) this.#connection?.pause();
  };

  readonly #onEnd = () => void this.#socket.push(null);

  readonly #onTimeout = () => void this.#socket.emit('timeout');

  readonly #onError = (error: Error) => void this.#socket.destroy(error);

  readonly #onClose = () => {
    // After a proper end the client may still have to read what is left.
    if (!this.#connection?.readableEnded) this.#socket.destroy();
  };

  #withoutContinue(chunk: Buffer): Buffer {
    if (this.#skipContinue === undefined) return chunk;
    const bytes = Buffer.concat([this.#skipContinue, chunk]);
    const end = bytes.indexOf('\r\n\r\n');
    this.#skipContinue = end < 0 ? bytes : undefined;
    if (end < 0) return Buffer.alloc(0);
    return /^HTTP\/1\.\d 100\b/.test(bytes.toString('latin1', 0, 12))
      ? bytes.subarray(end + 4)
      : bytes;
  }

  #detach(): AgentSocket | undefined {
    const connection = this.#connection;
    this.#connection = undefined;
    if (connection) this.#listen(connection, 'off');
    return connection;
  }
}

function apply(connection: Socket, setting: Setting, values: readonly unknown[]): void {
  Reflect.apply(connection[setting], connection, values);
}
