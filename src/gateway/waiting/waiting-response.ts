import type { ServerResponse } from 'node:http';
import type { RawAnswer } from '../../hooks/border.ts';
import type { HeartbeatKind } from './heartbeat-kind.ts';

export interface WaitingRules {
  readonly heartbeat: HeartbeatKind;
  /** The client wants an event stream. */
  readonly isStream: boolean;
  /** Events of this provider have names. */
  readonly namesEvents: boolean;
}

/** The response of a client that waits for its answer, possibly for hours. */
export class WaitingResponse {
  readonly #response: ServerResponse;
  readonly #rules: WaitingRules;
  readonly #since = performance.now();

  constructor(response: ServerResponse, rules: WaitingRules) {
    this.#response = response;
    this.#rules = rules;
  }

  get milliseconds(): number {
    return performance.now() - this.#since;
  }

  /** Shows the client, and everything between it and us, that the connection is alive. */
  beat(): void {
    const response = this.#response;
    // A client that does not read what it is sent gets no more of it.
    if (response.writableEnded || response.destroyed || response.writableLength > 0) return;
    if (this.#rules.isStream) this.#beatInStream();
    else if (this.#rules.heartbeat === '102') response.writeProcessing();
    else if (this.#rules.heartbeat === '100') response.writeContinue();
  }

  /** From the first comment on the status is 200, whatever comes: an error is told inside of the stream. */
  #beatInStream(): void {
    if (!this.#response.headersSent) {
      this.#response.writeHead(200, {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache',
      });
    }
    this.#response.write(': waiting\n\n');
  }

  /** The client has been told that a stream comes. */
  get hasBegun(): boolean {
    return this.#response.headersSent;
  }

  end({ status, headers, body }: RawAnswer): void {
    const response = this.#response;
    if (response.destroyed || response.writableEnded) return;
    if (response.headersSent) {
      response.end(status < 400 ? body : errorEvent(body, this.#rules.namesEvents));
      return;
    }
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
    response.end(body);
  }
}

/** An error as the SDKs look for it in a stream. */
function errorEvent(body: string, namesEvents: boolean): string {
  return `${namesEvents ? 'event: error\n' : ''}data: ${inOneLine(body)}\n\n`;
}

function inOneLine(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body));
  } catch {
    return JSON.stringify({ error: { message: body } });
  }
}
