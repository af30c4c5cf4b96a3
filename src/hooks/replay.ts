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

/** The real connection of a request that is let out after all. Symbols: another copy may meet it. */
const letOut = Symbol.for('batchling.http.let-out');

/** As the agent sees a request: it hands over the connection, or why there is none. */
type StandIn = ClientRequest & {
  [letOut]: true;
  onSocket(connection: Socket | null | undefined, error?: Error | null): void;
};

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
  readonly #listeners: [event: string, listener: (...values: never[]) => void][];
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
    this.#listeners = [
      ['data', (chunk: Buffer) => this.#pass(chunk)],
      ['end', () => socket.push(null)],
      ['timeout', () => socket.emit('timeout')],
      ['error', (error: Error) => socket.destroy(error)],
      ['close', () => this.#closed()],
    ];
    socket.once('free', () => this.#free());
    socket.once('agentRemove', () => this.#connection?.emit('agentRemove'));
    askAgent(this.#standIn());
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
    for (const [event, listener] of this.#listeners) connection.on(event, listener);
    for (const bytes of this.#waiting.splice(0)) connection.write(bytes);
    // After the agent has made its own settings, and counted from the connection on.
    const tune = () => {
      for (const [setting, values] of this.#settings) this.tune(setting, values);
    };
    if (connection.connecting) connection.once('connect', tune);
    else process.nextTick(tune);
  }

  #pass(chunk: Buffer): void {
    const bytes = this.#withoutContinue(chunk);
    if (bytes.length > 0 && !this.#socket.push(bytes)) this.#connection?.pause();
  }

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

  #closed(): void {
    // After a proper end the client may still have to read what is left.
    if (!this.#connection?.readableEnded) this.#socket.destroy();
  }

  /** The response has ended, and both sides would go on: back to the agent. */
  #free(): void {
    this.#detach()?.emit('free');
    this.#socket.destroy();
  }

  #detach(): AgentSocket | undefined {
    const connection = this.#connection;
    this.#connection = undefined;
    for (const [event, listener] of this.#listeners) connection?.off(event, listener);
    return connection;
  }
}

function apply(connection: Socket, setting: Setting, values: readonly unknown[]): void {
  Reflect.apply(connection[setting], connection, values);
}
