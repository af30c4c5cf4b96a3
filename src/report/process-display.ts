import { version } from '../base/version.ts';
import type { Display, DisplayedScope, DisplayMode, ScopeDisplay } from './display.ts';
import { possibleMode } from './display-mode.ts';
import { JsonDisplay } from './json-display.ts';
import { reportFile, reportNumbers } from './run/report-to-run.ts';
import { RunReporter } from './run/run-reporter.ts';
import { liveOutput, plainOutput } from './terminal/line-output.ts';
import { TextDisplay } from './text-display.ts';

/** Copies of this version of the package share their displays: two would draw over each other. */
const key = Symbol.for(`batchling.displays.${version}`);

type Shown = Exclude<DisplayMode, 'none'>;

interface Displays {
  readonly own: Map<Shown, Display>;
  reporter: RunReporter | undefined;
}

/**
 * Shows a scope: on stderr, live in a terminal and as plain lines elsewhere, or through the parent of
 * the run where there is one. `undefined`: nobody shows it.
 */
export function showScope(
  asked: DisplayMode | undefined,
  scope: DisplayedScope,
): ScopeDisplay | undefined {
  const holder = globalThis as { [key]?: Displays };
  holder[key] ??= { own: new Map(), reporter: undefined };
  const displays = holder[key];
  displays.reporter ??= runReporter(asked === 'json');
  if (displays.reporter) return displays.reporter.open(scope, asked === 'none');
  if (asked === 'none') return undefined;
  const mode = possibleMode(asked, process.stderr);
  const display = displays.own.get(mode) ?? createDisplay(mode);
  displays.own.set(mode, display);
  return display.open(scope);
}

function runReporter(sendsCalls: boolean): RunReporter | undefined {
  const file = reportFile();
  if (file === undefined) return undefined;
  const reporter = new RunReporter(file, sendsCalls);
  reportNumbers(() => reporter.numbers());
  return reporter;
}

function createDisplay(mode: Shown): Display {
  if (mode === 'json') return new JsonDisplay(process.stderr);
  return new TextDisplay(
    mode === 'live' ? liveOutput(process.stderr) : plainOutput(process.stderr),
  );
}
