import type { Answer } from '../../base/types.ts';
import { nextTurn } from '../../concurrency/event-loop.ts';
import { refuseRequests } from '../answer/delivery.ts';
import type { CanaryMode } from '../model/call.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { Request } from '../model/request.ts';
import type { RequestQueue } from '../model/request-queue.ts';
import { verdictOf } from './canary-verdict.ts';
import { errorWords, soundsLikeOne } from './error-words.ts';
import type { Kind } from './kind.ts';
import { KindGate } from './kind-gate.ts';
import { kindsOf } from './kinds-of.ts';
import { tellUsers } from './tell-users.ts';

/**
 * Kinds of a queue that are tried. A program with a schema of its own in each request would otherwise send all of them
 * as canaries, one by one and at full price.
 */
const mostKinds = 20;
/** A kind that was answered so long ago, in milliseconds, is tried again. */
const rememberedFor = 30 * 86_400_000;

export interface CanaryServices {
  /** Sends a request alone, as an ordinary call or as a batch of one. */
  sendAlone(request: Request, mode: CanaryMode): void;
  /** These go on in their lane. `after`: the canary that was sent before them, in a batch. */
  goOn(queue: RequestQueue, requests: readonly Request[], after?: Request): void;
}

/**
 * The first request of each kind goes out alone. Its outcome decides about the others of its kind, which are held
 * until then: they go on, or they get the answer with which it was refused.
 */
export class Canaries {
  readonly #context: EngineContext;
  readonly #services: CanaryServices;
  /** How long a refusal counts, in milliseconds. */
  readonly #refusedFor: number;
  readonly #kinds = new WeakMap<RequestQueue, Map<string, KindGate>>();
  readonly #pilots = new Map<Request, KindGate>();
  /** Queues whose users know that not every kind is tried. */
  readonly #untried = new WeakSet<RequestQueue>();

  constructor(context: EngineContext, services: CanaryServices, refusedFor: number) {
    this.#context = context;
    this.#services = services;
    this.#refusedFor = refusedFor;
  }

  async pass(queue: RequestQueue, requests: readonly Request[], mode: CanaryMode): Promise<void> {
    const free: Request[] = [];
    let untried: Request | undefined;
    const refused = new Map<Answer, Request[]>();
    // All of them are sorted in one turn, so that those of one kind go on together.
    for (const [request, kind] of await kindsOf(queue, requests)) {
      // Whoever sends it reads its body again, and tells its callers what is wrong.
      if (kind === undefined) {
        free.push(request);
        continue;
      }
      const gate = this.#gateOf(queue, kind, mode);
      if (gate === undefined) {
        untried ??= request;
        free.push(request);
        continue;
      }
      const { state } = gate;
      if (state.is === 'open') free.push(request);
      else if (state.is === 'refused') {
        const others = refused.get(state.answer) ?? [];
        others.push(request);
        refused.set(state.answer, others);
      } else if (gate.isPilot(request)) this.#cameBack(gate, request, free);
      else gate.hold(request);
    }
    if (untried) this.#tellUntried(queue, untried);
    if (free.length > 0) this.#services.goOn(queue, free);
    // A ledger that fails for some must not keep the others waiting.
    await Promise.all([...refused].map(([answer, others]) => this.#refuse(others, answer)));
  }

  /** Whether requests of this kind wait for none of them any more. */
  isOpen(queue: RequestQueue, kind: string): boolean {
    const kinds = this.#kinds.get(queue);
    return kinds?.get(kind)?.state.is === 'open';
  }

  isPilot(request: Request): boolean {
    return this.#pilots.has(request);
  }

  /** The provider has no room, or fails, or cannot be reached: nothing is known that would keep the others back. */
  setBack(request: Request): void {
    const gate = this.#pilots.get(request);
    if (gate === undefined) return;
    this.#pilots.delete(request);
    const name = gate.kind.label;
    tellUsers(
      this.#context,
      [request],
      `one request of ${name} has no answer yet; the others of its kind go on`,
    );
    this.#open(gate);
  }

  /** A request has its answer, or is forgotten without one. */
  ended(request: Request, answer: Answer | undefined): void {
    const gate = this.#pilots.get(request);
    if (gate === undefined) return;
    this.#pilots.delete(request);
    this.#context.background('go on after a canary', this.#decide(gate, request, answer));
  }

  /** `undefined`: there are too many kinds to try each of them. */
  #gateOf(queue: RequestQueue, kind: Kind, mode: CanaryMode): KindGate | undefined {
    const kinds = this.#kinds.get(queue) ?? new Map<string, KindGate>();
    this.#kinds.set(queue, kinds);
    const known = kinds.get(kind.key);
    const isOver =
      known?.state.is === 'refused' &&
      this.#context.clock.now() >= known.refusedAt + this.#refusedFor;
    if (known && !isOver) return known;
    if (kinds.size >= mostKinds && !known) return undefined;
    const gate = new KindGate(queue, kind, mode);
    kinds.set(kind.key, gate);
    this.#context.background('try a canary', this.#begin(gate));
    return gate;
  }

  async #begin(gate: KindGate): Promise<void> {
    if (await this.#isKnown(gate)) this.#open(gate);
    else this.#sendNext(gate);
  }

  /** A ledger that cannot be read costs a canary, not the kind. */
  async #isKnown(gate: KindGate): Promise<boolean> {
    const { ledger, report } = this.#context;
    try {
      const name = gate.nameFor(gate.mode);
      const known = await ledger.limit(gate.queue.account.id, name);
      return known !== undefined && known.age < rememberedFor;
    } catch (error) {
      report('look up whether a kind of requests was answered before', error);
      return false;
    }
  }

  #sendNext(gate: KindGate): void {
    const pilot = gate.nextPilot();
    if (pilot === undefined) {
      // The next request of this kind begins anew.
      this.#kinds.get(gate.queue)?.delete(gate.kind.key);
      return;
    }
    this.#pilots.set(pilot, gate);
    this.#services.sendAlone(pilot, gate.mode);
  }

  /** Its batch was not created, or it is worth another attempt: that says enough about its kind. */
  #cameBack(gate: KindGate, pilot: Request, free: Request[]): void {
    if (pilot.attempt === 0) {
      this.#services.sendAlone(pilot, gate.mode);
      return;
    }
    this.#pilots.delete(pilot);
    gate.moveTo({ is: 'open' });
    free.push(pilot);
    for (const request of gate.release()) free.push(request);
  }

  async #decide(gate: KindGate, pilot: Request, answer: Answer | undefined): Promise<void> {
    // Whatever ends this request may be in the middle of ending others, too.
    await nextTurn();
    const verdict = verdictOf(answer);
    if (answer === undefined || verdict === 'says nothing') {
      // A server without batches lets all of them go.
      if (gate.queue.account.unserved === undefined) this.#sendNext(gate);
      else this.#open(gate);
    } else if (verdict === 'stops') {
      await this.#stop(gate, pilot, answer);
    } else {
      if (answer.status < 300) this.#remember(gate);
      tellUsers(
        this.#context,
        [pilot],
        `checked one request of ${gate.kind.label}: ${answer.status}`,
      );
      this.#open(gate, answer.status < 300 ? pilot : undefined);
    }
  }

  /** What a batch of one proves, an ordinary call would have proved, too. */
  #remember(gate: KindGate): void {
    const { ledger, background } = this.#context;
    const modes: readonly CanaryMode[] = gate.mode === 'batch' ? ['call', 'batch'] : ['call'];
    const learnt = { tokens: 0, named: false };
    for (const mode of modes) {
      const noted = ledger.learn(gate.queue.account.id, gate.nameFor(mode), learnt);
      background('note that a kind of requests was answered', noted);
    }
  }

  #open(gate: KindGate, pilot?: Request): void {
    gate.moveTo({ is: 'open' });
    const { queue, mode } = gate;
    const held = gate.release();
    const after = mode === 'batch' ? pilot : undefined;
    // Too few for a batch of their own may be enough together with other kinds.
    if (held.length < (queue.limits.leastItems ?? 1)) for (const one of held) queue.add(one);
    else this.#services.goOn(queue, held, after);
  }

  async #stop(gate: KindGate, pilot: Request, answer: Answer): Promise<void> {
    const { json: _parsed, ...told } = answer;
    gate.moveTo({ is: 'refused', answer: told });
    gate.refusedAt = this.#context.clock.now();
    const held = gate.release();
    const count = held.length.toLocaleString('en-US');
    const others = `${count} other ${held.length === 1 ? 'call like it was' : 'calls like it were'}`;
    const words = gate.queue.wire.redact(errorWords(answer));
    const advice = soundsLikeOne(answer)
      ? '. If that is about this one request alone, leave it out, or send the others without a canary: canary: false, --no-canary'
      : '';
    tellUsers(
      this.#context,
      [pilot, ...held],
      `checked one request of ${gate.kind.label}: ${answer.status} ${words}. ${others} not sent and ` +
        `got the same answer, and so does every later one of this run. Nothing of them is paid for${advice}`,
    );
    await this.#refuse(held, told);
  }

  /** Once for each queue. */
  #tellUntried(queue: RequestQueue, request: Request): void {
    if (this.#untried.has(queue)) return;
    this.#untried.add(queue);
    tellUsers(
      this.#context,
      [request],
      `${queue.model}: its requests are of more than ${mostKinds} kinds (fields, schemas, tools); canaries try the first ` +
        `${mostKinds}, and the others are sent without one`,
    );
  }

  #refuse(requests: readonly Request[], answer: Answer): Promise<void> {
    return refuseRequests(this.#context, requests, () => answer);
  }
}
