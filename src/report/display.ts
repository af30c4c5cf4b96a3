import { styleText } from 'node:util';
import type { BatchlingEventName, BatchlingEvents } from '../orchestrator/events.ts';
import type { Stats } from '../orchestrator/stats.ts';
import { counted, summaryLine } from './summary.ts';

export type DisplayMode = 'live' | 'plain' | 'json' | 'none';

/** Where a display writes; stdout belongs to the user's program. */
export interface DisplayStream {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

export interface Display {
  event<Name extends BatchlingEventName>(name: Name, event: BatchlingEvents[Name]): void;
  /** Something the user should know, while the scope goes on. */
  hint(text: string): void;
  /** The scope is closed; `note` says what the user should do next, if anything. */
  close(note?: string): void;
}

const clearLine = '\r\u001b[K';

/** Live in a terminal, plain lines in a file. */
export function createDisplay(
  asked: DisplayMode | undefined,
  stats: () => Stats,
  stream: DisplayStream = process.stderr,
): Display {
  const mode = asked ?? (stream.isTTY ? 'live' : 'plain');
  if (mode === 'none') return silent;
  if (mode === 'json') return jsonDisplay(stats, stream);
  return mode === 'live' ? liveDisplay(stats, stream) : plainDisplay(stats, stream);
}

const silent: Display = {
  event: () => undefined,
  hint: () => undefined,
  close: () => undefined,
};

function jsonDisplay(stats: () => Stats, stream: DisplayStream): Display {
  const write = (record: object) => stream.write(`${JSON.stringify(record)}\n`);
  return {
    event: (event, payload) => write({ event, ...payload }),
    hint: (text) => write({ event: 'hint', text }),
    close: (note) => write({ event: 'closed', stats: stats(), ...(note && { note }) }),
  };
}

function plainDisplay(stats: () => Stats, stream: DisplayStream): Display {
  const line = (text: string) => stream.write(`batchling: ${text}\n`);
  return {
    event: (name, event) => {
      const text = describe(name, event);
      if (text !== undefined) line(text);
    },
    hint: line,
    close: (note) => {
      if (stats().captured > 0) line(summaryLine(stats()));
      if (note) line(note);
    },
  };
}

/** One line that is written over and over, so that it never fills the terminal. */
function liveDisplay(stats: () => Stats, stream: DisplayStream): Display {
  const label = styleText('cyan', 'batchling');
  const started = Date.now();
  let last = 0;
  const line = (text: string) => stream.write(`${clearLine}${label} ${text}\n`);
  return {
    event: (name, event) => {
      const now = Date.now();
      // What did not go as planned stays on the screen.
      if (name === 'batch:resent') line(describe(name, event) as string);
      if (name === 'call:captured' && now - last < 100) return;
      if (name === 'call:answered' && now - last < 100) return;
      last = now;
      const { captured, answered, batches } = stats();
      const waiting = captured - answered;
      const seconds = Math.round((now - started) / 1000);
      const open = batches.submitted - batches.ended;
      stream.write(
        `${clearLine}${label} ${answered}/${captured} answered, ${waiting} waiting, ` +
          `${open} ${open === 1 ? 'batch' : 'batches'} under way, ${seconds}s`,
      );
    },
    hint: line,
    close: (note) => {
      stream.write(clearLine);
      if (stats().captured > 0) line(summaryLine(stats()));
      if (note) line(note);
    },
  };
}

function describe<Name extends BatchlingEventName>(
  name: Name,
  event: BatchlingEvents[Name],
): string | undefined {
  if (name === 'batch:submitted') {
    const { batch, count, provider, model, remoteId } = event as BatchlingEvents['batch:submitted'];
    return `sent ${batch}: ${counted(count, 'request')} to ${provider} ${model} (${remoteId})`;
  }
  if (name === 'batch:collected') {
    const { batch, answered, failed } = event as BatchlingEvents['batch:collected'];
    const errors = failed > 0 ? `, ${counted(failed, 'error')}` : '';
    return `collected ${batch}: ${counted(answered, 'answer')}${errors}`;
  }
  if (name === 'batch:resent') {
    const { batch, reason } = event as BatchlingEvents['batch:resent'];
    return `${batch}: ${reason}`;
  }
  return undefined;
}
