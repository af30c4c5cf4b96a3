import type { Duplex } from 'node:stream';

/** The other end of a fake socket. */
export interface SocketPeer {
  /** The client has written bytes. */
  receive(bytes: Buffer, done: (error?: Error | null) => void): void;
  /** The client can take more bytes. */
  resume(): void;
  /** The client has changed a setting of the connection. */
  changeSetting(setting: Setting, values: readonly unknown[]): void;
  /** The client has ended its side. */
  finish(): void;
  /** The socket is destroyed, by the client or by its agent. */
  destroyed(error: Error | null): void;
  /** The client reads what it knows of its connection. */
  readFact(name: Fact): unknown;
  /** The client listens for an event of TLS. */
  listensToTls(): void;
}

/** What a socket says of its connection; a captured request has none. */
const connectionFacts = {
  remoteAddress: undefined,
  remotePort: undefined,
  remoteFamily: undefined,
  localAddress: undefined,
  localPort: undefined,
  alpnProtocol: false,
};

/**
 * What a secure socket says of its server. No server stands behind a fake socket: a client that checks it
 * after all must refuse it, and not trust whoever gets the bytes.
 */
const serverFacts = {
  authorized: false,
  authorizationError: 'ERR_BATCHLING_NO_SERVER',
  getPeerCertificate: () => ({}),
  getPeerX509Certificate: () => undefined,
  getPeerFinished: () => undefined,
  getProtocol: () => null,
  getCipher: () => ({}),
  getSession: () => undefined,
  isSessionReused: () => false,
};

const allFacts = { ...connectionFacts, ...serverFacts };

export type Fact = keyof typeof allFacts;

/** What a fake socket says where there is no connection. */
export function factWithoutConnection(name: Fact): unknown {
  return allFacts[name];
}

export function isServerFact(name: Fact): boolean {
  return name in serverFacts;
}

const tlsEvents = new Set<unknown>([
  'secureConnect',
  'secure',
  'session',
  'keylog',
  'OCSPResponse',
]);

export type Setting = 'setTimeout' | 'setNoDelay' | 'setKeepAlive' | 'ref' | 'unref';

/** The part of `net.Socket` and `tls.TLSSocket` that clients use. */
export interface FakeSocket extends Duplex {
  connecting: boolean;
  timeout: number | undefined;
  setTimeout(milliseconds: number, callback?: () => void): this;
  destroySoon(): void;
}

/** A socket whose bytes go to `peer`. It has no timer, so it cannot time out. */
export function createFakeSocket(peer: SocketPeer, secure: boolean): FakeSocket {
  // Not imported: a program without captured requests does not load it.
  const { Duplex } = process.getBuiltinModule('node:stream');
  const socket = new Duplex({
    allowHalfOpen: false,
    emitClose: false,
    read: () => peer.resume(),
    write: (bytes: Buffer, _encoding, done) => peer.receive(bytes, done),
    final(done) {
      peer.finish();
      done();
    },
    destroy(error, done) {
      peer.destroyed(error);
      done(error);
      // One turn later, as with a real connection: clients rely on that order.
      setImmediate(() => this.emit('close', error !== null));
    },
  });
  const remember = (setting: Setting) =>
    function set(this: FakeSocket, ...values: unknown[]) {
      peer.changeSetting(setting, values);
      return this;
    };
  for (const name of Object.keys(secure ? allFacts : connectionFacts) as Fact[]) {
    Object.defineProperty(socket, name, { configurable: true, get: () => peer.readFact(name) });
  }
  if (secure) {
    socket.on('newListener', (name) => {
      if (tlsEvents.has(name)) peer.listensToTls();
    });
  }
  return Object.assign(socket, {
    connecting: true,
    timeout: undefined,
    setNoDelay: remember('setNoDelay'),
    setKeepAlive: remember('setKeepAlive'),
    ref: remember('ref'),
    unref: remember('unref'),
    setTimeout(this: FakeSocket, milliseconds: number, callback?: () => void) {
      this.timeout = milliseconds;
      if (callback && milliseconds === 0) this.removeListener('timeout', callback);
      else if (callback) this.once('timeout', callback);
      peer.changeSetting('setTimeout', [milliseconds]);
      return this;
    },
    destroySoon,
    address: () => ({}),
    ...(secure && { encrypted: true }),
  });
}

/**
 * Tells the client that the socket is connected. `isSecured` is asked last: a listener may have begun to look
 * at the server meanwhile, and waits for the real one.
 */
export function connect(socket: FakeSocket, isSecured: () => boolean): void {
  socket.connecting = false;
  if (socket.destroyed) return;
  socket.emit('connect');
  socket.emit('ready');
  if (isSecured()) socket.emit('secureConnect');
}

function destroySoon(this: FakeSocket): void {
  if (this.writable) this.end();
  if (this.writableFinished) this.destroy();
  else this.once('finish', () => this.destroy());
}
