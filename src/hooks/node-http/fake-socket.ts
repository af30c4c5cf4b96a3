import type { Duplex } from 'node:stream';

/** What happens at the other end of a fake socket. */
export interface FarEnd {
  /** The client has written something. */
  receive(bytes: Buffer, done: (error?: Error | null) => void): void;
  /** The client has room for more. */
  resume(): void;
  /** The client has changed a setting of the connection. */
  tune(setting: Setting, values: readonly unknown[]): void;
  /** The client will write no more. */
  finish(): void;
  /** The client has let go of the connection, or has no more use for it. */
  gone(error: Error | null): void;
}

export type Setting = 'setTimeout' | 'setNoDelay' | 'setKeepAlive' | 'ref' | 'unref';

/** As much of a `net.Socket` or a `tls.TLSSocket` as clients look at. */
export interface FakeSocket extends Duplex {
  connecting: boolean;
  timeout: number | undefined;
  setTimeout(milliseconds: number, callback?: () => void): this;
  destroySoon(): void;
}

/** A connection that leads nowhere but to `farEnd`. No timer runs on it: it cannot time out. */
export function createFakeSocket(farEnd: FarEnd, secure: boolean): FakeSocket {
  // Asked for here, and not imported: only who has hooks in place pays for loading it.
  const { Duplex } = process.getBuiltinModule('node:stream');
  const socket = new Duplex({
    allowHalfOpen: false,
    emitClose: false,
    read: () => farEnd.resume(),
    write: (bytes: Buffer, _encoding, done) => farEnd.receive(bytes, done),
    final(done) {
      farEnd.finish();
      done();
    },
    destroy(error, done) {
      farEnd.gone(error);
      done(error);
      // As late as a connection of the operating system is closed: clients count on that order.
      setImmediate(() => this.emit('close', error !== null));
    },
  });
  const remember = (setting: Setting) =>
    function set(this: FakeSocket, ...values: unknown[]) {
      farEnd.tune(setting, values);
      return this;
    };
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
      farEnd.tune('setTimeout', [milliseconds]);
      return this;
    },
    destroySoon,
    address: () => ({}),
    ...(secure ? tlsFacts : {}),
  });
}

/** Tells the client, once it has the socket, that the connection stands. */
export function connect(socket: FakeSocket, secure: boolean): void {
  process.nextTick(() => {
    socket.connecting = false;
    if (socket.destroyed) return;
    socket.emit('connect');
    socket.emit('ready');
    if (secure) socket.emit('secureConnect');
  });
}

const tlsFacts = {
  encrypted: true,
  authorized: true,
  authorizationError: null,
  alpnProtocol: false,
  getPeerCertificate: () => ({}),
  getCipher: () => ({}),
  getProtocol: () => null,
  getSession: () => undefined,
  isSessionReused: () => false,
};

function destroySoon(this: FakeSocket): void {
  if (this.writable) this.end();
  if (this.writableFinished) this.destroy();
  else this.once('finish', () => this.destroy());
}
