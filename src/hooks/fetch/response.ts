import type { Answer, Dict } from '../../base/types.ts';
import type { BodyReader } from '../border.ts';
import { bodiless } from '../node-http/raw-response.ts';

/**
 * A `Response` by its prototype only. The constructor of `Response` is skipped: it makes headers, a
 * state and an empty body, none of which are used here.
 */
function BareResponse(): void {}
BareResponse.prototype = Response.prototype;
const Bare = BareResponse as unknown as new () => object;

/**
 * A `Response` that becomes a native one only when it has to. A native `Response` of a string costs
 * twice as much as all other steps of a call together, and clients nearly always call `json()` or
 * `text()`, which do not need one.
 */
export class AnswerResponse extends Bare implements Response {
  readonly #status: number;
  readonly #url: string;
  readonly #headers: Dict;
  /**
   * Cleared once it is read: the promise that brought this response often lives on and would keep the
   * text from being collected.
   */
  #text: string;
  #parsed: unknown;
  #used = false;
  #lazyHeaders: Headers | undefined;
  #real: Response | undefined;
  /** Told when the client has read the body; only for calls whose abort is deferred. */
  readonly #reader: BodyReader | undefined;

  constructor(answer: Answer, headers: Dict, url: string, reader?: BodyReader) {
    super();
    this.#reader = reader;
    this.#status = answer.status;
    this.#url = url;
    this.#headers = headers;
    this.#text = bodiless.has(answer.status) ? '' : answer.body;
    this.#parsed = answer.json;
    if (answer.bytes === undefined) return;
    const init = { status: answer.status, headers };
    this.#real = new Response(answer.bytes, init);
    if (reader && this.#real.body) {
      this.#real = new Response(watchedBody(this.#real.body, reader), init);
    }
  }

  get status(): number {
    return this.#status;
  }

  get statusText(): string {
    return process.getBuiltinModule('node:http').STATUS_CODES[this.#status] ?? '';
  }

  get ok(): boolean {
    return this.#status >= 200 && this.#status < 300;
  }

  get url(): string {
    return this.#url;
  }

  get redirected(): boolean {
    return false;
  }

  get type(): Response['type'] {
    return 'basic';
  }

  get headers(): Headers {
    this.#lazyHeaders ??= new Headers(this.#headers);
    return this.#lazyHeaders;
  }

  get body(): Response['body'] {
    return this.#materialise().body;
  }

  get bodyUsed(): boolean {
    return this.#used || (this.#real?.bodyUsed ?? false);
  }

  async text(): Promise<string> {
    if (this.#real) return this.#whole((real) => real.text());
    return this.#use().text;
  }

  // biome-ignore lint/suspicious/noExplicitAny: the signature of Response
  async json(): Promise<any> {
    if (this.#real) return this.#whole((real) => real.json());
    const { text, parsed } = this.#use();
    return parsed === undefined ? JSON.parse(text) : parsed;
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.#whole((real) => real.arrayBuffer());
  }

  async blob(): Promise<Blob> {
    return this.#whole((real) => real.blob());
  }

  async formData(): Promise<FormData> {
    return this.#whole((real) => real.formData());
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await this.arrayBuffer());
  }

  clone(): Response {
    if (this.#real) return this.#real.clone();
    if (this.bodyUsed) throw new TypeError('Response.clone: Body has already been consumed.');
    const answer = { status: this.#status, headers: this.#headers, body: this.#text };
    // Without its reader: tools that log read a copy, also of an answer whose client has given up.
    return new AnswerResponse(answer, this.#headers, this.#url);
  }

  /** Hands the body out once: the caller may change the parsed object. */
  #use(): { text: string; parsed: unknown } {
    if (this.#used) throw new TypeError('Body is unusable: Body has already been read');
    this.#used = true;
    const use = { text: this.#text, parsed: this.#parsed };
    this.#text = '';
    this.#parsed = undefined;
    this.#reader?.read();
    return use;
  }

  async #whole<Body>(read: (real: Response) => Promise<Body>): Promise<Body> {
    const body = await read(this.#materialise());
    this.#reader?.read();
    return body;
  }

  #materialise(): Response {
    if (this.#real === undefined) {
      const body = bodiless.has(this.#status) ? null : this.#text;
      const init = { status: this.#status, headers: this.#headers };
      this.#real = new Response(body, init);
      if (this.#reader && this.#real.body) {
        this.#real = new Response(watchedBody(this.#real.body, this.#reader), init);
      }
      // Already read: reading the native one, too, makes it reject further reads as a native one does.
      if (this.#used) this.#real.text().catch(() => undefined);
      this.#text = '';
      this.#parsed = undefined;
    }
    return this.#real;
  }
}

/**
 * A response at full price to a call that was captured. The headers of a fetched response cannot be changed, so
 * it gets a new head around its body.
 */
export function realtimeResponse(response: Response, reader: BodyReader | undefined): Response {
  const headers = new Headers(response.headers);
  headers.set('x-batchling-source', 'realtime');
  const { status, statusText, url } = response;
  const body = response.body && reader ? watchedBody(response.body, reader) : response.body;
  const copy = new Response(body, { status, statusText, headers });
  return Object.defineProperty(copy, 'url', { value: url });
}

/** The same body, which reports how far it is read. Like a native one it is a byte stream, not read ahead. */
function watchedBody(
  body: ReadableStream<Uint8Array>,
  reader: BodyReader,
): ReadableStream<Uint8Array> {
  const source = body.getReader();
  let isOpen = false;
  const end = () => {
    if (isOpen) reader.streams(false);
    else reader.read();
  };
  return new ReadableStream({
    type: 'bytes',
    async pull(controller) {
      if (!isOpen) reader.streams(true);
      isOpen = true;
      const { done, value } = await source.read().catch((error: unknown) => {
        end();
        throw error;
      });
      if (!done) {
        controller.enqueue(value);
        return;
      }
      controller.close();
      controller.byobRequest?.respond(0);
      end();
    },
    cancel(reason) {
      end();
      return source.cancel(reason);
    },
  });
}
