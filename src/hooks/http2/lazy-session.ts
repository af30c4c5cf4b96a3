import { EventEmitter } from 'node:events';
import type {
  ClientHttp2Session,
  ClientSessionRequestOptions,
  OutgoingHttpHeaders,
  Settings,
} from 'node:http2';
import type { HeldStream } from './held-stream.ts';
import { refusedRequest, sessionError } from './native-errors.ts';
import { beginRequest, type SessionPlace } from './session-request.ts';

/** What a session is made of. */
export interface SessionSource extends SessionPlace {
  /** Connects, as the client has asked for it. */
  open(): ClientHttp2Session;
}

/** Events that tell of the server: a client that waits for one of them gets the real session. */
const ofServer = new Set<unknown>([
  'altsvc',
  'connect',
  'localSettings',
  'origin',
  'ping',
  'remoteSettings',
  'stream',
]);
/** Events of the connection that a client ends its session for. */
const ofConnection = ['error', 'frameError', 'goaway', 'timeout'] as const;

/** The constant of `node:http2` for a session of a client. */
const clientSession = 1;

/**
 * A session of `node:http2` whose captured requests are answered without a server. Everything else goes over a real
 * session, which is opened when it is needed first: a client may open a session for each of thousands of calls.
 */
export class LazySession extends EventEmitter {
  readonly type = clientSession;
  readonly encrypted: boolean;
  readonly #source: SessionSource;
  #real: ClientHttp2Session | undefined;
  #isClosed = false;
  #isDestroyed = false;
  readonly #held = new Set<HeldStream>();
  /** What the client has set before there was a real session, by what it is about. */
  readonly #settings = new Map<string | symbol, (session: ClientHttp2Session) => void>();

  constructor(source: SessionSource) {
    super();
    this.#source = source;
    this.encrypted = source.origin.startsWith('https:');
    this.on('newListener', (name) => {
      if (ofServer.has(name) && !this.destroyed) void this.#session;
    });
  }

  get closed(): boolean {
    return this.#isClosed || (!this.#isWaiting && this.#real?.closed === true);
  }

  get destroyed(): boolean {
    return this.#isDestroyed || (!this.#isWaiting && this.#real?.destroyed === true);
  }

  request(headers: OutgoingHttpHeaders = {}, options?: ClientSessionRequestOptions) {
    if (this.destroyed || this.closed) throw refusedRequest(this.destroyed);
    const session = this as unknown as ClientHttp2Session;
    const send = (...given: Parameters<ClientHttp2Session['request']>) =>
      this.#opened.request(...given);
    const { stream, held } = beginRequest(this.#source, headers, options, session, send);
    if (held) {
      this.#held.add(held);
      stream.once('close', () => this.#release(held));
    }
    return stream;
  }

  close(callback?: () => void): void {
    if (this.closed || this.destroyed) return;
    if (callback) this.once('close', callback);
    this.#isClosed = true;
    this.#endIfIdle();
  }

  destroy(cause?: Error | number, code?: number): void {
    if (this.destroyed) return;
    this.#isDestroyed = true;
    const error = typeof cause === 'number' ? sessionError(cause) : cause;
    // Streams that were let out end with the real session.
    for (const { stream, isLetOut } of this.#held) if (!isLetOut) stream.destroy(error);
    if (this.#real) this.#real.destroy(error, typeof cause === 'number' ? cause : code);
    else setImmediate(() => this.#tellEnd(error));
  }

  ref(): void {
    this.#set('ref', (session) => session.ref());
  }

  unref(): void {
    this.#set('ref', (session) => session.unref());
  }

  /** Counts from the opening of a connection: a session that waits for batches has none. */
  setTimeout(milliseconds: number, callback?: () => void): this {
    if (callback && milliseconds === 0) this.off('timeout', callback);
    else if (callback) this.once('timeout', callback);
    this.#set('timeout', (session) => session.setTimeout(milliseconds));
    return this;
  }

  settings(settings: Settings, callback?: () => void): void {
    if (this.destroyed) throw refusedRequest(true);
    // Each is sent, and each is acknowledged.
    this.#set(Symbol('settings'), (session) => session.settings(settings, callback as never));
  }

  setLocalWindowSize(size: number): void {
    this.#set('window', (session) => session.setLocalWindowSize(size));
  }

  ping(...parameters: unknown[]): boolean {
    const session = this.#opened;
    return Reflect.apply(session.ping, session, parameters) as boolean;
  }

  goaway(...parameters: unknown[]): void {
    const session = this.#opened;
    Reflect.apply(session.goaway, session, parameters);
  }

  get connecting(): boolean {
    return this.#real?.connecting ?? false;
  }

  get pendingSettingsAck(): boolean {
    return this.#real?.pendingSettingsAck ?? false;
  }

  get alpnProtocol() {
    return this.#session?.alpnProtocol;
  }

  get localSettings() {
    return this.#session?.localSettings;
  }

  get remoteSettings() {
    return this.#session?.remoteSettings;
  }

  get originSet() {
    return this.#session?.originSet;
  }

  get socket() {
    return this.#session?.socket;
  }

  get state() {
    return this.#session?.state;
  }

  #set(what: string | symbol, apply: (session: ClientHttp2Session) => void): void {
    if (this.destroyed) return;
    this.#settings.set(what, apply);
    if (this.#real) apply(this.#real);
  }

  /** The real session, which is opened if there is none; `undefined`: this one has ended without any. */
  get #session(): ClientHttp2Session | undefined {
    // One that the server ends takes no more requests, while this one lives on for those that wait.
    const isUsedUp = this.#real?.closed === true && this.#isWaiting;
    if (!this.#isDestroyed && (this.#real === undefined || isUsedUp)) this.#real = this.#open();
    return this.#real;
  }

  get #opened(): ClientHttp2Session {
    const session = this.#session;
    if (session === undefined) throw refusedRequest(true);
    return session;
  }

  #open(): ClientHttp2Session {
    const real = this.#source.open();
    for (const apply of this.#settings.values()) apply(real);
    for (const name of ofServer as Set<string>) {
      real.on(name, (...values: unknown[]) => {
        this.emit(name, ...values.map((value) => (value === real ? this : value)));
      });
    }
    for (const name of ofConnection) {
      real.on(name, (...values: unknown[]) => {
        // A session with captured requests is not idle, and a broken connection is not theirs. Streams hear of it themselves.
        if (this.#isWaiting && !this.#isDestroyed) return;
        if (name === 'error') this.#tellAfterStreams(() => this.emit(name, ...values));
        else this.emit(name, ...values);
      });
    }
    real.once('close', () => {
      if (this.#real !== real) return;
      if (this.#isWaiting) this.#real = undefined;
      else this.#tellAfterStreams(() => this.#tellEnd());
    });
    return real;
  }

  /** What ends streams is told by them first; one that was let out has to hear of it before. */
  #tellAfterStreams(tell: () => void): void {
    if (this.#held.size > 0) setImmediate(tell);
    else tell();
  }

  /** Requests of it wait for their answers from us. */
  get #isWaiting(): boolean {
    // Asked with each request: of thousands the first one answers.
    for (const { isLetOut } of this.#held) if (!isLetOut) return true;
    return false;
  }

  #release(held: HeldStream): void {
    this.#held.delete(held);
    this.#endIfIdle();
  }

  #endIfIdle(): void {
    if (!this.#isClosed || this.destroyed || this.#isWaiting) return;
    if (this.#real) {
      this.#real.close();
      return;
    }
    this.#isDestroyed = true;
    process.nextTick(() => this.#tellEnd());
  }

  #tellEnd(error?: Error): void {
    this.#isDestroyed = true;
    if (error) this.emit('error', error);
    this.emit('close');
  }
}
