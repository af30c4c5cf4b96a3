import type { ServerResponse } from 'node:http';
import type { RawAnswer } from '../../hooks/border.ts';
import { sendAnswer } from '../send-answer.ts';

/** The interim responses that tell a client, before its answer is there, that the connection is alive. */
export const heartbeatKinds = ['102', '100', 'none'] as const;

export type HeartbeatKind = (typeof heartbeatKinds)[number];

/**
 * Each client was tried, see docs/gateway.md: Python's http.client takes a 102 for the answer itself and skips a
 * 100, undici closes the connection at a 100 and skips a 102.
 */
const byClient: readonly (readonly [userAgent: RegExp, kind: HeartbeatKind])[] = [
  [/^python-(urllib|requests)\b|\bpython-urllib3\b/i, '100'],
  [/^(node|undici|axios|got|curl|node-fetch|ky|superagent)\b/i, '102'],
  [/^(openai|anthropic|groq|together)\/js\b/i, '102'],
  [/\bai-sdk\//i, '102'],
  [/^python-httpx2?\b|^(async)?(openai|anthropic)\/python\b/i, '102'],
];

/** A client that nobody has tried gets none: an answer that is not understood is worse than silence. */
export function heartbeatKind(userAgent: string | undefined): HeartbeatKind {
  const known = byClient.find(([pattern]) => pattern.test(userAgent ?? ''));
  return known?.[1] ?? 'none';
}

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

  /** With the first comment the status is 200, whatever comes: an error is told inside of the stream. */
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

  end(answer: RawAnswer): void {
    const response = this.#response;
    const { status, body } = answer;
    if (!response.headersSent) sendAnswer(response, answer);
    else if (!response.destroyed && !response.writableEnded)
      response.end(status < 400 ? body : errorEvent(String(body), this.#rules.namesEvents));
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
