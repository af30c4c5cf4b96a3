import type { DisplayMode } from '../display.ts';
import { type LineOutput, plainOutput } from '../terminal/line-output.ts';
import type { DisplayStream } from '../terminal/terminal.ts';
import { fewestRows } from './bottom-rows.ts';
import { JsonRun } from './json-run.ts';
import { ReportFolder } from './report-folder.ts';
import { type RunOutcome, RunTotals } from './run-totals.ts';
import { SharedTerminal } from './shared-terminal.ts';
import { TextRun } from './text-run.ts';

interface Look {
  readonly mode: DisplayMode;
  readonly stream: DisplayStream;
  /** `--detach` */
  readonly mayDetach: boolean;
}

/** Reads what the processes of a run report, sums it up and shows it. */
export class RunReader {
  readonly #folder: ReportFolder;
  readonly #shown: TextRun | JsonRun | undefined;
  readonly #totals = new RunTotals();

  constructor(path: string, look: Look) {
    this.#shown = showRun(look);
    this.#folder = new ReportFolder(path, {
      message: (process, message) => {
        this.#totals.message(process, message);
        this.#shown?.message(process, message);
      },
      ended: (process) => this.#shown?.ended(process),
    });
  }

  /** Reads what is new. */
  read(): void {
    this.#folder.read();
    this.#folder.findEnded();
  }

  /** Reads the rest and prints the summary. */
  end(milliseconds: number): RunOutcome {
    this.#folder.read();
    this.#folder.close();
    const outcome = this.#totals.outcome();
    this.#shown?.end(outcome, milliseconds);
    return outcome;
  }
}

function showRun({ mode, stream, mayDetach }: Look): TextRun | JsonRun | undefined {
  if (mode === 'none') return undefined;
  if (mode === 'json') return new JsonRun(stream);
  return new TextRun(outputOf(mode, stream), mayDetach);
}

function outputOf(mode: DisplayMode, stream: DisplayStream): LineOutput {
  const isHighEnough = (stream.rows ?? 24) >= fewestRows;
  return mode === 'live' && isHighEnough ? new SharedTerminal(stream) : plainOutput(stream);
}
