import type { DryRunSummary } from '../../orchestrator/dry-run/dry-run-summary.ts';
import type { Stats } from '../../orchestrator/model/stats.ts';
import { reportVariable } from '../../run-variables.ts';
import type { DisplayMode } from '../display.ts';
import { possibleMode } from '../display-mode.ts';
import { type LineOutput, plainOutput } from '../line-output.ts';
import type { DisplayStream } from '../terminal.ts';
import { fewestRows } from './bottom-rows.ts';
import { JsonRun } from './json-run.ts';
import { type ProcessKey, ReportFolder, type RunListener } from './report-folder.ts';
import type { RunMessage } from './run-message.ts';
import { RunTotals } from './run-totals.ts';
import { SharedTerminal } from './shared-terminal.ts';
import { TextRun } from './text-run.ts';

/** How often the reports of the processes are read, in milliseconds. */
const interval = 250;

export interface RunDisplayOptions {
  /** Without it: live in a terminal, plain elsewhere. */
  readonly mode?: DisplayMode | undefined;
  readonly stream: DisplayStream;
  /** `--detach`: its processes end when all calls are sent. */
  readonly mayDetach?: boolean;
}

export interface RunOutcome {
  /** The sum of all processes. */
  readonly stats: Stats;
  /** What processes have left under way, where one has left something. */
  readonly detached?: { readonly calls: number; readonly batches: number };
  /** What a dry run has found, in all processes. */
  readonly dryRun?: DryRunSummary;
}

export interface RunDisplay {
  /** Environment variables for the processes of the run. */
  readonly variables: Record<string, string>;
  /** To be called when the processes have ended: prints the summary. */
  close(): Promise<RunOutcome>;
}

/** A display of one kind, for all processes of a run. */
export interface ShownRun {
  message(process: ProcessKey, message: RunMessage): void;
  ended(process: ProcessKey): void;
  /** `milliseconds`: how long the run took. */
  end(outcome: RunOutcome, milliseconds: number): void;
}

/** Shows what all processes of a run do. They are told where to report by `variables`. */
export function openRunDisplay(options: RunDisplayOptions): RunDisplay {
  const { mode: asked, stream, mayDetach = false } = options;
  const mode = possibleMode(asked, stream);
  const shown = showRun(mode, stream, mayDetach);
  const totals = new RunTotals();
  const listener: RunListener = {
    message: (process, message) => {
      totals.message(process, message);
      shown?.message(process, message);
    },
    ended: (process) => shown?.ended(process),
  };
  const folder = new ReportFolder(listener);
  const began = performance.now();
  const timer = setInterval(() => {
    folder.read();
    folder.findEnded();
  }, interval).unref();
  let closing: Promise<RunOutcome> | undefined;
  const close = async () => {
    clearInterval(timer);
    folder.read();
    folder.remove();
    const outcome = totals.outcome();
    shown?.end(outcome, performance.now() - began);
    return outcome;
  };
  return {
    variables: {
      [reportVariable]: folder.path,
      ...(mode === 'json' && { BATCHLING_DISPLAY: mode }),
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

function showRun(
  mode: DisplayMode,
  stream: DisplayStream,
  mayDetach: boolean,
): ShownRun | undefined {
  if (mode === 'none') return undefined;
  if (mode === 'json') return new JsonRun(stream);
  return new TextRun(outputOf(mode, stream), mayDetach);
}

function outputOf(mode: DisplayMode, stream: DisplayStream): LineOutput {
  const isHighEnough = (stream.rows ?? 24) >= fewestRows;
  return mode === 'live' && isHighEnough ? new SharedTerminal(stream) : plainOutput(stream);
}
