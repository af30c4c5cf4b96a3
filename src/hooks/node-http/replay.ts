import { EventEmitter } from 'node:events';
import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import { connect, type FakeSocket, type Setting } from './fake-socket.ts';

/** A request as its agent was asked for a connection. */
export interface AgentRequest {
  readonly request: ClientRequest;
  /** Asks the agent for a connection. */
  askAgent(request: ClientRequest): void;
}

/** Marks a stand-in, also for another copy of the package. */
const replayed = Symbol.for('batchling.http.let-out');

/** What the agent gets in place of the request; it calls `onSocket` with a connection or an error. */
interface StandIn extends Omit<ClientRequest, 'onSocket'> {
  [replayed]: true;
  onSocket(connection: Socket | null | undefined, error?: Error | null): void;
}

type AgentSocket = Socket & { _httpMessage?: ClientRequest | null };

/** Whether this is a stand-in, whose request has been through the hook already. */
export function isReplayed(request: ClientRequest): boolean {
  return replayed in request;
}

/**
 * Sends the bytes that a client has written to its fake socket over a real connection, and the
 * response back to the client. The agent provides the connection, new or kept alive, with all its own
 * settings, and takes it back. It gets a stand-in, because the request itself has a socket already.
 */
export class Replay {
  readonly #socket: FakeSocket;
  readonly #request: ClientRequest;
  readonly #settings: ReadonlyMap<Setting, readonly unknown[]>;
  #waiting: Buffer[];
  #skipContinue: Buffer | undefined;
  readonly #progress: [name: string, listener: (...values: unknown[]) => void][] = [];
  #connection: AgentSocket | undefined;

  constructor(
    { request, askAgent }: AgentRequest,
    socket: FakeSocket,
    settings: ReadonlyMap<Setting, readonly unknown[]>,
    bytes: Buffer,
    continued: boolean,
  ) {
    this.#request = request;
    this.#socket = socket;
    this.#settings = settings;
    this.#waiting = [bytes];
    // We have told the client to go on. If the server told it, too, it would send its body twice.
    this.#skipContinue = continued ? Buffer.alloc(0) : undefined;
    askAgent(this.#standIn() as unknown as ClientRequest);
  }

  get connection(): Socket | undefined {
    return this.#connection;
  }

  write(bytes: Buffer, done: (error?: Error | null) => void): void {
    if (this.#connection) {
      this.#connection.write(bytes, done);
    } else {
      // Copied: the client may use the memory again once the bytes are taken.
      this.#waiting.push(Buffer.from(bytes));
      done();
    }
  }

  resume(): void {
    this.#connection?.resume();
  }

  changeSetting(setting: Setting, values: readonly unknown[]): void {
    if (this.#connection) apply(this.#connection, setting, values);
  }

  finish(): void {
    this.#connection?.end();
  }

  /** The response has ended and the connection can be kept alive: it goes back to the agent. */
  free(): void {
    const connection = this.#detach();
    connection?.resume();
    // Answered before the request was fully sent: its rest would run into the next request.
    if (connection && connection.writableLength > 0) connection.destroy();
    else connection?.emit('free');
  }

  /** The connection has stopped being HTTP: the agent no longer counts it. */
  removeFromAgent(): void {
    this.#connection?.emit('agentRemove');
  }

  /** The client's socket is destroyed: so is the connection, unless the agent has it back. */
  close(): void {
    const connection = this.#detach();
    connection?.on('error', () => undefined);
    if (this.#socket.writableEnded) connection?.destroySoon();
    else connection?.destroy();
  }

  #standIn(): StandIn {
    const standIn = Object.create(this.#request) as StandIn;
    // Gives the stand-in its own listeners.
    EventEmitter.call(standIn);
    standIn[replayed] = true;
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
      // Too late: the agent can give the connection to another request.
      process.nextTick(() => connection.emit('free'));
    } else {
      this.#connect(connection);
    }
  }

  #connect(connection: AgentSocket): void {
    this.#connection = connection;
    // The agent reads from the request whether, and how long, the connection may be kept alive.
    connection._httpMessage = this.#request;
    if (this.#socket.connecting) this.#follow(connection);
    else this.#followHandshake(connection);
    this.#listen(connection, 'on');
    for (const bytes of this.#waiting.splice(0)) connection.write(bytes);
    if (this.#socket.writableEnded) connection.end();
    // After the agent's own settings; timeouts count from the connection on.
    const applySettings = () => {
      for (const [setting, values] of this.#settings) this.changeSetting(setting, values);
    };
    if (connection.connecting) connection.once('connect', applySettings);
    else process.nextTick(applySettings);
  }

  #listen(connection: Socket, how: 'on' | 'off'): void {
    connection[how]('data', this.#onData);
    connection[how]('end', this.#onEnd);
    connection[how]('timeout', this.#onTimeout);
    connection[how]('error', this.#onError);
    connection[how]('close', this.#onClose);
    for (const [name, listener] of this.#progress) connection[how](name, listener);
  }

  /** The client was not told of a fake connection: it hears how the real one gets on. */
  #follow(connection: Socket): void {
    const socket = this.#socket;
    const secure = 'encrypted' in socket;
    // A connection that was kept alive does not connect again, but the client is waiting for it.
    if (!connection.connecting) process.nextTick(() => connect(socket, () => secure));
    for (const name of ['lookup', 'connect', 'ready', 'secureConnect', 'session', 'keylog']) {
      const listener = (...values: unknown[]) => {
        if (name === 'connect') socket.connecting = false;
        socket.emit(name, ...values);
      };
      this.#progress.push([name, listener]);
    }
  }

  /** The client was told of a fake connection, and may have begun to look at the server since. */
  #followHandshake(connection: Socket): void {
    const socket = this.#socket;
    if (!('encrypted' in socket)) return;
    const tell = () => void socket.emit('secureConnect');
    if (connection.connecting) this.#progress.push(['secureConnect', tell]);
    else process.nextTick(tell);
  }

  readonly #onData = (chunk: Buffer) => {
    const bytes = this.#withoutContinue(chunk);
    if (bytes.length > 0 && !this.#socket.push(bytes)) this.#connection?.pause();
  };

  readonly #onEnd = () => void this.#socket.push(null);

  readonly #onTimeout = () => void this.#socket.emit('timeout');

  readonly #onError = (error: Error) => void this.#socket.destroy(error);

  readonly #onClose = () => {
    // After a proper end the client may still be reading.
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
