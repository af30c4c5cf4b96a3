import type { Dispatcher } from 'undici';
import { givenPrice } from '../../batchers/limit-settings.ts';
import { decoded } from '../../http/decode.ts';
import type { ResolvedOptions } from '../../options/index.ts';
import { costOf } from '../../orchestrator/answer/answer-cost.ts';
import { ModelPrice } from '../../pricing/model-price.ts';
import { loadPrices } from '../../pricing/price-list.ts';
import type { Route } from '../request/routes.ts';
import { toldUsage } from './told-usage.ts';

/** A larger answer is not looked into: the copy of it would take too much memory. */
const mostBytes = 8_000_000;

/** The cost of calls that went out at full price through the gateway, as far as their answers name it. */
export class PassedCosts {
  readonly tokens = { input: 0, output: 0 };
  dollars = 0;
  readonly #settings: ResolvedOptions['providers'];

  constructor({ providers }: Pick<ResolvedOptions, 'providers'>) {
    this.#settings = providers;
  }

  /** Looks at an answer while it goes to its client. */
  watch(
    method: string | undefined,
    { statusCode, headers, body }: Dispatcher.ResponseData,
    route: Route,
  ): void {
    const type = String(headers['content-type'] ?? '');
    if (method !== 'POST' || statusCode >= 300 || !/\b(json|event-stream)\b/i.test(type)) return;
    const pieces: Buffer[] = [];
    let size = 0;
    body.on('data', (piece: Buffer) => {
      size += piece.length;
      if (size <= mostBytes) pieces.push(piece);
      else pieces.length = 0;
    });
    // This also counts where the client has left: a stream says first what its question has cost.
    body.once('close', () => {
      if (size > mostBytes) return;
      const encoding = String(headers['content-encoding'] ?? '');
      // An answer that cannot be read is an answer all the same.
      this.#add(pieces, encoding, type, route).catch(() => undefined);
    });
  }

  async #add(
    pieces: readonly Buffer[],
    encoding: string,
    type: string,
    { place, url }: Route,
  ): Promise<void> {
    const told = toldUsage(await textOf(pieces, encoding), type);
    if (told === undefined) return;
    const { registered } = place;
    const [batcher] = await Promise.all([registered.load(), loadPrices()]);
    const model = String(told.model ?? told.modelVersion ?? modelIn(url));
    const given = givenPrice(this.#settings[registered.name] ?? {}, model);
    const cost = costOf({ batcher, price: new ModelPrice(registered.info, model, given) }, told);
    if (cost === undefined) return;
    this.tokens.input += cost.inputTokens;
    this.tokens.output += cost.outputTokens;
    this.dollars += cost.paid ?? 0;
  }
}

async function textOf(pieces: readonly Buffer[], encoding: string): Promise<string> {
  async function* chunks() {
    yield* pieces;
  }
  const whole: Uint8Array[] = [];
  try {
    for await (const chunk of decoded(chunks(), encoding)) whole.push(chunk);
  } catch {
    // It broke off: a stream has told something by then.
  }
  return Buffer.concat(whole).toString();
}

/** Embeddings of Gemini do not name their model. */
function modelIn(url: string): string {
  return /\/models\/([^/:?]+)/.exec(url)?.[1] ?? '';
}
