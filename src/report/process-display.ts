import { version } from '../version.ts';
import type { Display, DisplayMode } from './display.ts';
import { JsonDisplay } from './json-display.ts';
import { liveOutput, plainOutput } from './line-output.ts';
import { canDraw } from './terminal.ts';
import { TextDisplay } from './text-display.ts';

/** Copies of this version of the package share their displays: two would draw over each other. */
const key = Symbol.for(`batchling.displays.${version}`);

type Shown = Exclude<DisplayMode, 'none'>;

/** The display of this process on stderr: live in a terminal, plain lines elsewhere. */
export function processDisplay(asked: Shown | undefined): Display {
  const holder = globalThis as { [key]?: Map<Shown, Display> };
  holder[key] ??= new Map();
  const mode = possibleMode(asked);
  const known = holder[key].get(mode);
  if (known) return known;
  const display = createDisplay(mode);
  holder[key].set(mode, display);
  return display;
}

function possibleMode(asked: Shown | undefined): Shown {
  if (asked === 'json' || asked === 'plain') return asked;
  return canDraw(process.stderr) ? 'live' : 'plain';
}

function createDisplay(mode: Shown): Display {
  if (mode === 'json') return new JsonDisplay(process.stderr);
  return new TextDisplay(
    mode === 'live' ? liveOutput(process.stderr) : plainOutput(process.stderr),
  );
}
