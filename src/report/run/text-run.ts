import type { TypicalTime } from '../../orchestrator/model/batch-times.ts';
import { emptyStats } from '../../orchestrator/model/stats.ts';
import { CallCounts } from '../call-counts.ts';
import type { ScopeDisplay } from '../display.ts';
import type { LineOutput } from '../terminal/line-output.ts';
import { dryRunLines } from '../text/dry-run-lines.ts';
import { summaryLines } from '../text/summary-lines.ts';
import { TextDisplay } from '../text-display.ts';
import type { ProcessKey } from './report-folder.ts';
import type { RunMessage } from './run-message.ts';
import type { RunOutcome } from './run-totals.ts';

interface ShownProcess {
  readonly scope: ScopeDisplay;
  readonly stats: ReturnType<typeof emptyStats>;
  readonly calls: CallCounts;
  learn(times: readonly TypicalTime[]): void;
}

/** The text that people read: each process is to the display what a scope is in the library. */
export class TextRun {
  readonly #display: TextDisplay;
  readonly #processes = new Map<string, ShownProcess>();

  constructor(output: LineOutput, mayDetach: boolean) {
    this.#display = new TextDisplay(output, { isRun: true, mayDetach });
  }

  message({ name }: ProcessKey, message: RunMessage): void {
    if (message.kind === 'open' && !this.#processes.has(name)) this.#open(name, message);
    if (message.kind === 'left') this.#display.say(message.lines);
    const shown = this.#processes.get(name);
    if (shown === undefined) return;
    switch (message.kind) {
      case 'event':
        shown.scope.event(message.name, message.event);
        break;
      case 'counts':
        Object.assign(shown.stats, message.stats);
        shown.calls.set(message.queues, message.batches);
        break;
      case 'typical':
        shown.learn(message.times);
        break;
      case 'closed':
        if (message.note !== undefined)
          shown.scope.event('notice', { notice: 'hint', text: message.note });
        break;
      case 'idle':
        shown.scope.close();
        break;
    }
  }

  ended({ name }: ProcessKey): void {
    this.#processes.get(name)?.scope.close();
  }

  end({ stats, dryRun }: RunOutcome, milliseconds: number): void {
    const isQuiet = stats.captured + stats.bypassed === 0;
    const summary = isQuiet ? [] : summaryLines(stats, milliseconds);
    this.#display.end(dryRun ? dryRunLines(dryRun) : summary);
  }

  #open(name: string, { store, firstUse }: OpenMessage): void {
    const stats = emptyStats();
    const calls = new CallCounts();
    let learn: ShownProcess['learn'] = () => undefined;
    const times = new Promise<readonly TypicalTime[]>((resolve) => {
      learn = resolve;
    });
    const typicalTimes = () => times;
    const scope = this.#display.open({
      stats,
      calls,
      store,
      firstUse,
      typicalTimes,
    });
    this.#processes.set(name, { scope, stats, calls, learn });
  }
}

type OpenMessage = Extract<RunMessage, { kind: 'open' }>;
