import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reportVariable } from '../../base/run-variables.ts';
import { emptyStats } from '../../orchestrator/model/stats.ts';
import type { DisplayMode } from '../display.ts';
import { possibleMode } from '../display-mode.ts';
import type { DisplayStream } from '../terminal/terminal.ts';
import type { RunReader } from './run-reader.ts';
import type { RunOutcome } from './run-totals.ts';

/** How often the reports of the processes are read, in milliseconds. */
const interval = 250;

export interface RunDisplayOptions {
  /** Without it: live in a terminal, plain elsewhere. */
  readonly mode?: DisplayMode | undefined;
  readonly stream: DisplayStream;
  /** `--detach`: its processes end when all calls are sent. */
  readonly mayDetach?: boolean;
}

export interface RunDisplay {
  /** Environment variables for the processes of the run. */
  readonly variables: Record<string, string>;
  /** To be called when the processes have ended: prints the summary. */
  close(): Promise<RunOutcome>;
}

/** Shows what all processes of a run do. They are told where to report by `variables`. */
export function openRunDisplay(options: RunDisplayOptions): RunDisplay {
  const { mode: asked, stream, mayDetach = false } = options;
  const mode = possibleMode(asked, stream);
  // The folder is readable by this user alone.
  const folder = mkdtempSync(join(tmpdir(), 'batchling-run-'));
  const began = performance.now();
  let reader: RunReader | undefined;
  let loading: Promise<RunReader> | undefined;
  // Many programs make no call, and none should wait for the modules that draw.
  const load = () => {
    loading ??= import('./run-reader.ts').then((module) => {
      reader = new module.RunReader(folder, { mode, stream, mayDetach });
      return reader;
    });
    return loading;
  };
  const timer = setInterval(() => {
    if (reader !== undefined) reader.read();
    // Closing tells why it cannot be loaded.
    else if (hasReports(folder)) load().catch(() => undefined);
  }, interval).unref();
  let closing: Promise<RunOutcome> | undefined;
  const close = async () => {
    clearInterval(timer);
    try {
      const isQuiet = loading === undefined && mode !== 'json' && !hasReports(folder);
      return isQuiet ? { stats: emptyStats() } : (await load()).end(performance.now() - began);
    } finally {
      removeFolder(folder);
    }
  };
  return {
    variables: {
      [reportVariable]: folder,
      ...(mode === 'json' && { BATCHLING_DISPLAY: mode }),
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** Processes that live on notice it by the missing folder. */
function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // It is among the temporary files, which somebody cleans up.
  }
}

function hasReports(folder: string): boolean {
  try {
    return readdirSync(folder).length > 0;
  } catch {
    // Somebody has cleaned up the temporary files.
    return false;
  }
}
