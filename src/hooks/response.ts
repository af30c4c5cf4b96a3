import type { Answer, Dict } from '../types.ts';

/**
 * An object that is a `Response` by its prototype only. The constructor of `Response` is left out: it
 * makes headers, a state and an empty body, none of which is ever used here.
 */
function BareResponse(): void {}
BareResponse.prototype = Response.prototype;
const Bare = BareResponse as unknown as new () => object;

/**
 * A `Response` that is light until somebody needs a real one. A native `Response` of a string costs
 * twice as much as everything else a call goes through; clients nearly always want `json()` or
 * `text()`, and those need none of it.
 */
export class AnswerResponse extends Bare implements Response {
  readonly redirected = false;
  readonly type = 'basic';
  readonly #answer: Answer;
  readonly #headers: Dict;
  readonly #url: string;
  #parsed: unknown;
  #used = false;
  #lazyHeaders: Headers | undefined;
  #real: Response | undefined;

  constructor(answer: Answer, headers: Dict, url: string) {
    super();
    this.#answer = answer;
    this.#headers = headers;
    this.#url = url;
    this.#parsed = answer.json;
  }

  get status(): number {
    return this.#answer.status;
  }

  get statusText(): string {
    return statusTexts[this.#answer.status] ?? '';
  }

  get ok(): boolean {
    return this.#answer.status >= 200 && this.#answer.status < 300;
  }

  get url(): string {
    return this.#url;
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
    if (this.#real) return this.#real.text();
    this.#use();
    return this.#answer.body;
  }

  // biome-ignore lint/suspicious/noExplicitAny: the signature of Response
  async json(): Promise<any> {
    if (this.#real) return this.#real.json();
    this.#use();
    const parsed = this.#parsed;
    // Handed out once: the caller may change it.
    this.#parsed = undefined;
    return parsed === undefined ? JSON.parse(this.#answer.body) : parsed;
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.#materialise().arrayBuffer();
  }

  async blob(): Promise<Blob> {
    return this.#materialise().blob();
  }

  async formData(): Promise<FormData> {
    return this.#materialise().formData();
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await this.#materialise().arrayBuffer());
  }

  clone(): Response {
    if (this.#real) return this.#real.clone();
    if (this.bodyUsed) throw new TypeError('Response.clone: Body has already been consumed.');
    const { status, headers, body } = this.#answer;
    return new AnswerResponse({ status, headers, body }, this.#headers, this.#url);
  }

  #use(): void {
    if (this.#used) throw new TypeError('Body is unusable: Body has already been read');
    this.#used = true;
  }

  #materialise(): Response {
    if (this.#real === undefined) {
      const { status, body } = this.#answer;
      this.#real = new Response(body, { status, headers: this.#headers });
      // Read already: reading it here leaves a body that refuses as a native one does.
      if (this.#used) this.#real.text().catch(() => undefined);
    }
    return this.#real;
  }
}

const statusTexts: Readonly<Record<number, string>> = {
  200: 'OK',
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  413: 'Payload Too Large',
  429: 'Too Many Requests',
  499: 'Client Closed Request',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};
