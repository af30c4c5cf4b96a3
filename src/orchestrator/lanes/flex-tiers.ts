import type { Answer } from '../../base/types.ts';
import type { FlexTier } from '../../batchers/batcher.ts';
import { isSuccess } from '../../streams/stream-dialect.ts';
import type { EngineScope, Lane } from '../model/call.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { Request } from '../model/request.ts';
import type { RequestQueue } from '../model/request-queue.ts';

/** A model that had no flex tier may have got one: after so long it is asked again. */
const rememberedFor = 7 * 86_400_000;

/** A model of an account at a base. */
type FlexPlace = Pick<RequestQueue, 'batcher' | 'endpoint' | 'model' | 'wire'> & {
  readonly account: Pick<RequestQueue['account'], 'id'>;
};

/** A call, and the tier that it has asked for. */
interface FlexAttempt {
  readonly request: Pick<Request, 'queue' | 'scope'>;
  readonly tier: FlexTier | undefined;
}

/**
 * Knows which models have a flex tier. There is no list of them: a model is asked, and a refusal is remembered, in
 * the ledger, too.
 */
export class FlexTiers {
  readonly #context: EngineContext;
  readonly #refused = new Map<string, boolean>();
  readonly #told = new Set<string>();

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /** The lane that calls for this one take: what has no flex tier is batched, and said once. */
  async laneOf(place: FlexPlace, wanted: Lane, scope: EngineScope): Promise<Lane> {
    if (wanted !== 'flex' || (await this.#has(place))) return wanted;
    this.tell(place, scope);
    return 'batch';
  }

  /** Whether the tier is worth asking for, as far as this process knows. */
  mayHave(place: FlexPlace): boolean {
    return place.batcher.flex(place) !== undefined && this.#refused.get(keyOf(place)) !== true;
  }

  /** The provider has said that this model has no such tier. */
  refuse(place: FlexPlace, scope: EngineScope): void {
    const key = keyOf(place);
    if (this.#refused.get(key) === true) return;
    this.#refused.set(key, true);
    this.tell(place, scope);
    const { ledger, background } = this.#context;
    const learnt = ledger.learn(place.account.id, quotaOf(place), { tokens: 0, named: true });
    background('remember that a model has no flex tier', learnt);
  }

  async #has(place: FlexPlace): Promise<boolean> {
    const { ledger, report } = this.#context;
    const key = keyOf(place);
    if (place.batcher.flex(place) !== undefined && !this.#refused.has(key)) {
      const learnt = await ledger
        .limit(place.account.id, quotaOf(place))
        .catch((error: unknown) => report('read which models have a flex tier', error));
      this.#refused.set(key, learnt !== undefined && learnt.age < rememberedFor);
    }
    return this.mayHave(place);
  }

  /** Says once what becomes of calls that wanted the tier. */
  tell(place: FlexPlace, scope: EngineScope): void {
    const { batcher, model } = place;
    const late = scope.onDeadline === 'flex' ? ', and go out at full price at their deadline' : '';
    const text = `${batcher.info.name} has no flex tier for ${model}: its calls are batched${late}.`;
    this.#tellOnce(`no tier ${batcher.info.name} ${model}`, scope, text);
  }

  /** Says once of a model that its provider answers calls for the tier in one that costs more. */
  answered({ request, tier }: FlexAttempt, answer: Answer): void {
    if (tier === undefined || !isSuccess(answer) || tier.hasServed(answer)) return;
    const { queue, scope } = request;
    const { name } = queue.batcher.info;
    const text =
      `${name} was asked for flex by a call to ${queue.model}, and its answer names another tier or none: ` +
      'such answers count at full price.';
    this.#tellOnce(`another tier ${name} ${queue.model}`, scope, text);
  }

  #tellOnce(key: string, scope: EngineScope, text: string): void {
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.#context.logger.warn(text);
    scope.emit('notice', { notice: 'hint', text });
  }
}

function keyOf(place: FlexPlace): string {
  return `${place.account.id}\n${quotaOf(place)}`;
}

/** A tier that a model does not have is a quota of no tokens. */
function quotaOf({ model, wire }: FlexPlace): string {
  return `flex ${model} ${wire.base}`;
}
