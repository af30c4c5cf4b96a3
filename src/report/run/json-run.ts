import { jsonLine } from '../json-line.ts';
import type { DisplayStream } from '../terminal/terminal.ts';
import type { ProcessKey } from './report-folder.ts';
import type { RunMessage } from './run-message.ts';
import type { RunOutcome } from './run-totals.ts';

/** One JSON object per line for each event of all processes, and one for their sum. */
export class JsonRun {
  readonly #stream: DisplayStream;

  constructor(stream: DisplayStream) {
    this.#stream = stream;
  }

  message({ pid }: ProcessKey, message: RunMessage): void {
    if (message.kind === 'event') this.#write(message.name, pid, message.time, message.event);
    else if (message.kind === 'closed') {
      const { stats, note, time } = message;
      this.#write('closed', pid, time, { stats, ...(note !== undefined && { note }) });
    }
  }

  ended(): void {}

  end({ stats, dryRun }: RunOutcome, milliseconds: number): void {
    if (dryRun) this.#write('dry-run', process.pid, Date.now(), dryRun);
    const fields = { stats, milliseconds: Math.round(milliseconds) };
    this.#write('summary', process.pid, Date.now(), fields);
  }

  #write(event: string, pid: number, time: number, fields: object): void {
    this.#stream.write(jsonLine(event, { pid, time }, fields));
  }
}
