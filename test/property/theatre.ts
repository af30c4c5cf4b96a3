import { setImmediate as turn } from 'node:timers/promises';
import { type BatchifyOptions, batchify } from '../../src/core.ts';
import { ManualClock } from '../support/clocks/manual-clock.ts';
import { OutstandingWork } from '../support/outstanding-work.ts';
import { until } from '../support/until.ts';
import { type AskedCall, askIn, closeScope, type OpenScope, openScope } from './asked-call.ts';
import { isEngineClosed } from './engine-lock.ts';
import type { Program, ScopePlan, Step } from './program.ts';
import { changeProvider, type StruckFault, unlimited } from './provider-steps.ts';
import { cancelEverything } from './stranger.ts';
import type { TheatreStage } from './theatre-stage.ts';

/** A hang is found by counting steps, never by waiting. */
const mostSteps = 4_000;
/** Batches that are stuck at the provider are cancelled by a stranger after so many steps. */
const patientSteps = 150;

/** Plays a program of steps against the simulator, through the public API. */
export class Theatre {
  readonly program: Program;
  readonly clock = new ManualClock();
  readonly calls: AskedCall[] = [];
  readonly faults: StruckFault[] = [];
  /** How often a batch was sent again, and said so. */
  resent = 0;
  /** A stranger has cancelled what was stuck. */
  strangerCancelled = false;
  readonly #stage: TheatreStage;
  readonly #store: string;
  /** Time passes only when nothing else happens, so that a program runs the same way each time. */
  readonly #work: OutstandingWork;
  readonly #open: (OpenScope | undefined)[] = [];
  readonly #scopes: OpenScope[] = [];

  constructor(stage: TheatreStage, program: Program) {
    this.#stage = stage;
    this.program = program;
    this.#store = stage.newStore();
    this.#work = new OutstandingWork(() => stage.providerTimers.size);
  }

  /** Plays all steps, then lets everything come to its end. */
  async play(): Promise<void> {
    try {
      for (const step of this.program.steps) await this.perform(step);
      await this.#curtain();
    } finally {
      this.#work.stop();
    }
  }

  async perform(step: Step): Promise<void> {
    await this.#do(step);
    await this.#work.done();
  }

  /** Moves the clock until the condition holds, and says how many steps it took. */
  async stepUntil(condition: () => boolean, most: number): Promise<number> {
    let steps = 0;
    for (; !condition() && steps < most; steps += 1) await this.#step();
    return steps;
  }

  get isEngineClosed(): boolean {
    return isEngineClosed(this.#store);
  }

  /** Leaves whoever still waits. */
  async leave(): Promise<void> {
    for (const { controller } of this.#scopes) controller.abort(new Error('seen enough'));
    await this.#work.done();
    await this.stepUntil(() => this.isEngineClosed, mostSteps);
    this.#work.stop();
  }

  get isOver(): boolean {
    return (
      this.calls.every(({ ending }) => ending) &&
      this.#scopes.every(({ state }) => state === 'closed')
    );
  }

  async #do(step: Step): Promise<void> {
    const { simulator } = this.#stage;
    switch (step.do) {
      case 'ask': {
        const plan = this.program.scopes[step.scope] as ScopePlan;
        const scope = this.#scope(step.scope, plan);
        for (let copy = 0; copy < step.copies; copy += 1) {
          const now = () => this.clock.now();
          this.calls.push(askIn(scope, plan, step, { simulator, now }));
        }
        return;
      }
      case 'advance':
        return this.#advance(step.seconds * 1_000);
      case 'abort':
      case 'cancel':
      case 'signal':
      case 'flush':
      case 'close':
        return this.#control(step);
      default: {
        const struck = changeProvider(simulator, step);
        if (step.do === 'fault' && struck) this.faults.push({ ...step, struck });
      }
    }
  }

  async #control(step: Extract<Step, { do: 'abort' | 'cancel' | 'signal' | 'flush' | 'close' }>) {
    // An abort straight from a timer would count as a client's deadline, which is ignored.
    await turn();
    if (step.do === 'abort') {
      this.calls[step.call % Math.max(1, this.calls.length)]?.controller.abort(
        new Error('aborted'),
      );
      return;
    }
    const scope = this.#open[step.scope];
    if (scope === undefined) return;
    if (step.do === 'flush') return scope.context.flush();
    if (step.do === 'cancel') {
      scope.cancelled = true;
      // It waits for the provider, and the provider may wait for the clock.
      scope.context.cancel().catch(() => undefined);
      return;
    }
    this.#open[step.scope] = undefined;
    if (step.do === 'signal') scope.controller.abort(new Error('scope aborted'));
    closeScope(scope);
  }

  #scope(index: number, plan: ScopePlan): OpenScope {
    const open = this.#open[index];
    if (open) return open;
    const controller = new AbortController();
    const options: BatchifyOptions = {
      ...plan,
      store: this.#store,
      hosts: this.#stage.hosts,
      clock: this.clock,
      signal: controller.signal,
      poll: '30s..2h',
      bypass: 'ignore',
    };
    const scope = openScope(batchify(options), controller);
    scope.context.on('batch:resent', () => {
      this.resent += 1;
    });
    this.#open[index] = scope;
    this.#scopes.push(scope);
    return scope;
  }

  async #advance(milliseconds: number): Promise<void> {
    const end = this.clock.now() + milliseconds;
    while (this.clock.next <= end) await this.#step();
    this.clock.advance(end - this.clock.now());
  }

  async #step(): Promise<void> {
    const { listLag } = this.#stage.simulator.settings;
    // The lag of lists is real time, and short beside the seconds that pass here. By their own
    // clock: a timer may strike a millisecond early by it.
    const listed = Date.now() + listLag;
    await until(() => listLag === 0 || Date.now() > listed, 'the lists');
    this.clock.step();
    await this.#work.done();
  }

  async #curtain(): Promise<void> {
    const { simulator } = this.#stage;
    simulator.release();
    simulator.configure({ limits: unlimited });
    for (const scope of this.#open) if (scope) closeScope(scope);
    await this.#work.done();
    for (let steps = 0; !this.isOver || !this.isEngineClosed; steps += 1) {
      if (steps === patientSteps) await this.#bringInAStranger();
      // Nothing is under way: without a timer nothing can happen any more.
      if (steps >= mostSteps || this.clock.timers === 0) break;
      await this.#step();
    }
  }

  async #bringInAStranger(): Promise<void> {
    this.strangerCancelled = true;
    await cancelEverything(this.#stage.simulator);
    await this.#work.done();
  }
}
