import type {
  ClientHttp2Stream,
  ClientSessionRequestOptions,
  OutgoingHttpHeaders,
} from 'node:http2';
import type { Duplex } from 'node:stream';
import { comesFromTimer } from '../abort-guard/abort-guard.ts';
import type { HookScope, RawAnswer } from '../border.ts';
import { bodiless, writableHeaders } from '../node-http/raw-response.ts';
import { rawCall } from '../raw-call.ts';
import { cancelled, internalError, streamError } from './native-errors.ts';
import { asDict, expectsContinue, isContinue, passedOn } from './stream-facts.ts';

/** A request that may be captured. */
export interface StreamCandidate {
  readonly scope: HookScope;
  readonly url: string;
  /** Without those that begin with a colon. */
  readonly headers: OutgoingHttpHeaders;
  readonly options: ClientSessionRequestOptions | undefined;
  /** Opens the stream that the client has asked for. */
  open(): ClientHttp2Stream;
}

/** The stream that its client gets, in place of one of a session. */
export interface HeldStream {
  readonly stream: Duplex;
  /** It has a stream of the real session. */
  readonly isLetOut: boolean;
}

/** Gives a client a stream of ours, reads what it writes, and hands that to the scope. */
export function holdStream(candidate: StreamCandidate): HeldStream {
  return new HeldRequest(candidate);
}

/** The flag of a head that is complete. */
const endOfHeaders = 4;

class HeldRequest implements HeldStream {
  readonly stream: Duplex;
  readonly #candidate: StreamCandidate;
  #pieces: Buffer[] = [];
  readonly #abort = new AbortController();
  /** `asked`: the scope has the request and has not answered it. */
  #phase: 'reading' | 'asked' | 'decided' = 'reading';
  #real: ClientHttp2Stream | undefined;
  #rstCode = 0;
  #isAborted = false;
  /** We have answered `expect: 100-continue`. */
  #isContinued = false;
  #timeout: number | undefined;
  #tellStatus: ((status: number | undefined) => void) | undefined;

  constructor(candidate: StreamCandidate) {
    this.#candidate = candidate;
    // Not imported: a program without captured requests does not load it.
    const { addAbortSignal, Duplex } = process.getBuiltinModule('node:stream');
    this.stream = new Duplex({
      read: () => void this.#real?.resume(),
      write: (bytes: Buffer, _encoding, done) => this.#receive(bytes, done),
      final: (done) => {
        if (this.#phase === 'reading') this.#ask();
        done();
      },
      destroy: (error, done) => {
        this.#destroyed(error);
        if (error !== null || this.stream.readableEnded) {
          done(error);
          return;
        }
        // Without an error a native stream ends before it closes.
        this.stream.push(null);
        setImmediate(done, null);
      },
    });
    this.#lookNative();
    const { signal, endStream } = candidate.options ?? {};
    if (signal) addAbortSignal(signal, this.stream);
    // Its client has no body, and does not end the stream itself.
    if (endStream) this.stream.end();
    else if (expectsContinue(candidate.headers)) setImmediate(() => this.#continue());
  }

  /** Its client sends no body before the server wants it, and the scope is asked with the body. */
  #continue(): void {
    if (this.#phase !== 'reading' || this.stream.destroyed) return;
    this.#isContinued = true;
    this.stream.emit('continue');
    this.stream.emit('headers', { ':status': 100 }, endOfHeaders, [':status', '100']);
  }

  get isLetOut(): boolean {
    return this.#real !== undefined;
  }

  /** What a native stream has beside what every stream has. */
  #lookNative(): void {
    const held = this;
    const { stream } = this;
    const facts = {
      aborted: () => held.#real?.aborted ?? held.#isAborted,
      bufferSize: () => stream.writableLength,
      endAfterHeaders: () => held.#candidate.options?.endStream ?? false,
      id: () => held.#real?.id,
      pending: () => held.#real?.pending ?? false,
      rstCode: () => held.#real?.rstCode ?? held.#rstCode,
      sentHeaders: () => held.#real?.sentHeaders ?? held.#candidate.headers,
      sentInfoHeaders: () => held.#real?.sentInfoHeaders ?? [],
      state: () => held.#real?.state ?? {},
    };
    for (const [name, get] of Object.entries(facts)) {
      Object.defineProperty(stream, name, { get, configurable: true });
    }
    Object.assign(stream, {
      close(code = 0, callback?: () => void) {
        held.#close(code, callback);
      },
      priority: () => undefined,
      sendTrailers: (headers: OutgoingHttpHeaders) => held.#real?.sendTrailers(headers),
      /** It has no timer, so it cannot time out before it goes out. */
      setTimeout(milliseconds: number, callback?: () => void) {
        if (callback && milliseconds === 0) stream.off('timeout', callback);
        else if (callback) stream.once('timeout', callback);
        held.#timeout = milliseconds;
        held.#real?.setTimeout(milliseconds);
        return stream;
      },
    });
  }

  #receive(bytes: Buffer, done: (error?: Error | null) => void): void {
    if (this.#real) {
      this.#real.write(bytes, done);
      return;
    }
    // Copied: the client may use the memory again once the bytes are taken.
    this.#pieces.push(Buffer.from(bytes));
    done();
  }

  #close(code: number, callback: (() => void) | undefined): void {
    if (callback) this.stream.once('close', callback);
    if (this.#real) {
      this.#real.close(code);
      return;
    }
    if (this.stream.destroyed) return;
    this.#rstCode = code;
    this.#isAborted = !this.stream.writableEnded;
    if (this.#isAborted) this.stream.emit('aborted');
    this.stream.destroy(streamError(code));
  }

  #destroyed(error: Error | null): void {
    if (this.#real && !this.#real.destroyed) this.#real.destroy(error ?? undefined);
    if (error !== null) this.#rstCode ||= error.name === 'AbortError' ? cancelled : internalError;
    if (this.#phase !== 'asked') return;
    this.#phase = 'decided';
    if (comesFromTimer(error)) this.#abort.abort('timeout');
    else if (error === null) this.#abort.abort();
    else this.#abort.abort(error);
  }

  #ask(): void {
    const { scope, url, headers } = this.#candidate;
    this.#phase = 'asked';
    const body = Buffer.concat(this.#pieces);
    const answered = () =>
      new Promise<number | undefined>((resolve) => {
        if (this.stream.destroyed) resolve(undefined);
        else this.#tellStatus = resolve;
      });
    const call = rawCall({ url, headers: asDict(headers), body, answered }, this.#abort.signal);
    const asking = async () => scope.handle(call);
    asking().then(
      (answer) => this.#answer(answer),
      (error: unknown) => this.#fail(error),
    );
  }

  #answer(answer: RawAnswer | undefined): void {
    if (this.#phase !== 'asked') return;
    this.#phase = 'decided';
    if (answer === undefined) {
      this.#passThrough();
      return;
    }
    const { status, headers } = answer;
    const body = Buffer.from(bodiless.has(status) ? '' : (answer.body as string));
    this.#pieces = [];
    const length = ['content-length', String(body.length)] as const;
    const pairs = [[':status', String(status)] as const, ...writableHeaders(headers), length];
    const head = Object.assign(Object.create(null), Object.fromEntries(pairs), {
      ':status': status,
    });
    this.stream.emit('response', head, endOfHeaders, pairs.flat());
    if (body.length > 0) this.stream.push(body);
    this.stream.push(null);
  }

  #fail(error: unknown): void {
    if (this.#phase !== 'asked') return;
    this.#phase = 'decided';
    this.stream.destroy(error instanceof Error ? error : new Error(String(error)));
  }

  /** The body is complete by now: the scope was asked with it. */
  #passThrough(): void {
    const { stream } = this;
    try {
      this.#real = this.#candidate.open();
    } catch (error) {
      stream.destroy(error as Error);
      return;
    }
    const real = this.#real;
    for (const name of passedOn) {
      real.on(name, (...values: unknown[]) => {
        if (!this.#isContinued || !isContinue(name, values[0])) stream.emit(name, ...values);
      });
    }
    real.once('response', ({ ':status': status }) => this.#tellStatus?.(status));
    real.on('data', (chunk: Buffer) => {
      if (!stream.push(chunk)) real.pause();
    });
    real.once('end', () => stream.push(null));
    real.once('error', (error: Error) => stream.destroy(error));
    real.once('close', () => {
      this.#tellStatus?.(undefined);
      // After a proper end the client may still be reading; where there is nothing to read, nobody does.
      if (!real.readableEnded || real.rstCode !== 0) stream.destroy();
      else if (stream.readableLength === 0) stream.read(0);
    });
    if (this.#timeout !== undefined) real.setTimeout(this.#timeout);
    for (const piece of this.#pieces.splice(0)) real.write(piece);
    real.end();
  }
}
