import { existsSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { reportVariable } from '../../base/run-variables.ts';
import { resolveOptions } from '../../options/index.ts';
import type { LeftBehind } from '../../report/text/leave-note.ts';

/** Tells the user what the process leaves behind, on stderr. */
export async function tellLeft(why: 'detached' | 'interrupted', left: LeftBehind): Promise<void> {
  if (why === 'detached') await tellRun(left);
  const { BATCHLING_DISPLAY: display } = process.env;
  if (display === 'none') return;
  if (display === 'json') {
    const { calls, batches, unclear, unsent } = left;
    await write(JSON.stringify({ event: why, calls, batches, unclear, unsent }));
    return;
  }
  const { leaveNote } = await import('../../report/text/leave-note.ts');
  const lines = leaveNote(why, left, usualStore());
  // A parent that draws has yet to print what this process has told it before. It removes the folder when it goes.
  if (existsSync(process.env[reportVariable] ?? '')) {
    const { reportToRun } = await import('../../report/run/report-to-run.ts');
    reportToRun({ kind: 'left', lines });
  } else {
    for (const line of lines) await write(`batchling: ${line}`);
  }
}

/** Tells the user that `--detach` cannot end this process; all its processes tell it once. */
export async function tellBusy(): Promise<void> {
  const { reportToRun } = await import('../../report/run/report-to-run.ts');
  const isWorker = process.channel !== undefined || !isMainThread;
  const why = isWorker
    ? 'is a worker that waits for its parent, as those of test runners are'
    : 'is busy with something else: a server, an interval, an open connection';
  const text =
    `--detach cannot end process ${process.pid}, although all its calls are sent: it ${why}. ` +
    'It stays until its answers are there; Ctrl-C loses nothing that is sent';
  const event = { notice: 'trouble', id: 'detach-busy', text } as const;
  reportToRun({ kind: 'event', time: Date.now(), name: 'notice', event });
}

/** The store that commands on the ledger use by themselves: they do not see a flag of the run. */
function usualStore(): string {
  return resolveOptions({}, undefined, { ...process.env, BATCHLING_STORE: '' }).store;
}

/** The parent of the run exits with the code of a detached run, whatever its command makes of ours. */
async function tellRun({ calls, batches }: LeftBehind): Promise<void> {
  const { reportToRun } = await import('../../report/run/report-to-run.ts');
  reportToRun({ kind: 'detached', calls, batches });
}

/** Resolves when it is written: the process exits right after the last line. */
function write(line: string): Promise<void> {
  return new Promise((resolve) => process.stderr.write(`${line}\n`, () => resolve()));
}
