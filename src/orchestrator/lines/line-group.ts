import type { JsonObject } from '../../base/json.ts';
import type { Dict, ItemId } from '../../base/types.ts';
import type { Expectation, Route } from '../../batchers/batcher.ts';
import type { RequestId } from '../../ledger/ledger.ts';
import type { RequestSize } from '../../pricing/request-size.ts';
import { prepareLine } from '../capture/prepare.ts';
import { kindKey } from '../gate/kind.ts';
import type { CallTarget, EngineScope } from '../model/call.ts';
import { areSameHeaders } from '../queue/queue-terms.ts';
import type { Weight } from '../submit/packer.ts';

/** A line of a job on its way into a batch. There may be tens of thousands, so it is one object, and all of it is needed. */
export interface Line extends Weight, RequestSize {
  /** Its place among the lines of its group. */
  readonly place: number;
  /** Its fingerprint, a character per byte. */
  readonly key: string;
  /** Which sample of identical lines it is. */
  readonly occurrence: number;
  /** Its answers of earlier, finished runs are not used. */
  readonly fresh: boolean;
  readonly body: string;
  expects: Expectation;
  /** The rest is known once the ledger has admitted it. */
  row: RequestId;
  id: ItemId;
  bytes: number;
  tokens: number;
  readonly units: number;
}

/** A line as its job has read it. `json`: its body, parsed. */
export interface GivenLine extends Pick<Line, 'place' | 'body' | 'occurrence' | 'fresh'> {
  readonly target: CallTarget;
  readonly json: JsonObject;
}

/** Lines that share a queue. */
export interface QueueLines {
  readonly target: CallTarget;
  readonly route: Route;
  readonly lines: Line[];
  /** The kinds among them, where one of each kind goes ahead of the others. */
  readonly kinds: Set<string>;
}

/** Bodies are in memory until their batch is at the provider; more of them go the way of calls, which spool them. */
const mostCharacters = 64 * 1024 * 1024;

/** Lines of a job that are asked together, sorted by the queues that they belong to. */
export class LineGroup {
  readonly scope: EngineScope;
  readonly headers: Dict;
  /** Places in it. */
  readonly size: number;
  /** None, if there is too much in memory. */
  readonly queues: QueueLines[] = [];
  #characters = 0;
  #last: QueueLines | undefined;

  constructor({ scope, headers, size }: Pick<LineGroup, 'scope' | 'headers' | 'size'>) {
    this.scope = scope;
    this.headers = headers;
    this.size = size;
  }

  /** A line that cannot be batched, or needs more than one request, is left out: it has to be asked as a call. */
  add({ place, target, body: asked, json, occurrence, fresh }: GivenLine): void {
    if (this.#characters > mostCharacters) return;
    const { scope, headers } = this;
    const ready = prepareLine({ scope, target, headers, body: asked }, json);
    if (typeof ready === 'string' || ready.join) return;
    const [{ route, key, expects }] = ready.parts;
    const found = this.#queueOf(target, route);
    const { body, units = 1 } = route;
    const unknown = { row: 0, id: '', bytes: 0, tokens: 0 };
    found.lines.push({ place, key, occurrence, fresh, body, expects, units, ...unknown });
    this.#characters += body.length;
    // All of them go another way then, so none is kept.
    if (this.#characters > mostCharacters) this.queues.length = 0;
    if (scope.canary) found.kinds.add(kindKey(target.batcher, json));
  }

  #queueOf(target: CallTarget, route: Route): QueueLines {
    if (this.#last && isForSame(this.#last, target, route)) return this.#last;
    let found = this.queues.find((one) => isForSame(one, target, route));
    if (found === undefined) {
      found = { target, route, lines: [], kinds: new Set() };
      this.queues.push(found);
    }
    this.#last = found;
    return found;
  }
}

function isForSame(known: QueueLines, target: CallTarget, route: Route): boolean {
  return (
    known.target === target &&
    known.route.model === route.model &&
    known.route.endpoint === route.endpoint &&
    known.route.partition === route.partition &&
    areSameHeaders(known.route.batchHeaders, route.batchHeaders)
  );
}
