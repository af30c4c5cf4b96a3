import type { JsonObject } from '../base/json.ts';
import type { FileKind } from './input/prepare-input.ts';
import type { Shard } from './job/selection.ts';
import type { FormatName } from './lines/line-format.ts';

/** How requests are made of lines. */
export interface LineTerms {
  /** A provider, or the base URL of a server. */
  readonly to?: string | undefined;
  /** `provider/model`; for `google` lines the model alone will do. */
  readonly model?: string | undefined;
  /** Text with `{{column}}` in it. */
  readonly prompt?: string | undefined;
  readonly system?: string | undefined;
  readonly maxTokens?: number | undefined;
  readonly schema?: JsonObject | undefined;
  /** A body of the user's own, with `{{column}}` in its strings. */
  readonly body?: JsonObject | undefined;
  /** Where the body goes: `/v1/embeddings`. */
  readonly url?: string | undefined;
  /** The column that the answer goes into. */
  readonly into?: string | undefined;
}

/** What `batchling map` is asked to do. */
export interface MapRequest extends LineTerms {
  /** Paths; `-` is standard input. */
  readonly inputs: readonly string[];
  /** `undefined`: standard output. */
  readonly output: string | undefined;
  readonly input?: FormatName | Exclude<FileKind, 'lines'> | undefined;
  readonly limit?: number | undefined;
  readonly sample?: number | undefined;
  readonly seed?: number | undefined;
  readonly shard?: Shard | undefined;
  readonly unordered: boolean;
  readonly skipBad: boolean;
  readonly restart: boolean;
  readonly retryErrors: boolean;
  readonly detach: boolean;
  /** Nobody is asked whether the job may cost that much. */
  readonly yes: boolean;
}
