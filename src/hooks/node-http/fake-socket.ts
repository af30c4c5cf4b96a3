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
}

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
    ...(secure ? tlsFacts : {}),
  });
}

/** Tells the client that the socket is connected, once the client has it. */
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
