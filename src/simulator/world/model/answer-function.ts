import type { SimulatedProvider } from '../../providers.ts';
import type { JsonObject } from '../../server/json.ts';

/**
 * A request that the simulated model has to answer, as the option `answer` sees it.
 *
 * @example
 * ```ts
 * const describe = ({ provider, model, prompt }: SimulatedRequest) =>
 *   `${provider} was asked ${prompt} of ${model}`;
 * ```
 */
export interface SimulatedRequest {
  readonly provider: SimulatedProvider;
  /** The path it was sent to, or would have been sent to outside of a batch: `/v1/messages`. */
  readonly endpoint: string;
  readonly model: string;
  /** The parsed request body. */
  readonly body: Readonly<JsonObject>;
  /** The text of the last user message. */
  readonly prompt: string;
  /**
   * 1 when this prompt is asked of this model and endpoint for the first time, 2 for the second time,
   * and so on. Retries count, and so do the later steps of an agent: its prompt stays the same.
   */
  readonly asked: number;
  /** How it came. */
  readonly mode: 'batch' | 'realtime';
  /** The tier that it is billed in: `batch`, `standard`, `flex` … */
  readonly tier: string;
}

/**
 * A call of one of the tools that the request offers.
 *
 * @example
 * ```ts
 * const call: SimulatedToolCall = { name: 'weather', arguments: { city: 'Lisbon' } };
 * ```
 */
export interface SimulatedToolCall {
  name: string;
  arguments: Record<string, unknown>;
}

/**
 * What the simulated model says:
 *
 * - a string: the text of a well-formed answer,
 * - `{ toolCalls }`: a well-formed answer that calls these tools,
 * - `{ status }`: an error in the provider's own shape, with `body` as its message, or as the whole of
 *   it where that is an object,
 * - any other object: the response body as it is,
 * - `undefined`: the ordinary answer of the simulator.
 *
 * @example
 * ```ts
 * const busy: SimulatedAnswer = { status: 429, body: 'Slow down.' };
 * const lookUp: SimulatedAnswer = { toolCalls: [{ name: 'search', arguments: { query: 'sea' } }] };
 * ```
 */
export type SimulatedAnswer =
  | string
  | { status: number; body?: string | object }
  | { toolCalls: SimulatedToolCall[]; text?: string }
  | { readonly [field: string]: unknown }
  | undefined;

/**
 * Answers in place of the simulated model. One that throws answers with status 500, and its error is
 * printed as a warning of the process, once per message.
 *
 * @example
 * ```ts
 * const answer: AnswerFunction = ({ prompt, asked }) => {
 *   if (prompt.includes('weather') && asked === 1) return { status: 429 };
 *   return `You asked: ${prompt}`;
 * };
 * const simulator = await startSimulator({ answer });
 * ```
 */
export type AnswerFunction = (
  request: SimulatedRequest,
) => SimulatedAnswer | Promise<SimulatedAnswer>;
