import { version } from '../version.ts';
import type { Display, DisplayMode } from './display.ts';
import { JsonDisplay } from './json-display.ts';
import { livePaper, plainPaper } from './paper.ts';
import { canDraw } from './terminal.ts';
import { TextDisplay } from './text-display.ts';

/** Copies of this version of the package share their displays: two would draw over each other. */
const key = Symbol.for(`batchling.displays.${version}`);

type Shown = Exclude<DisplayMode, 'none'>;

/** The display of this process on stderr. Live in a terminal, plain lines in a file. */
export function processDisplay(asked: DisplayMode | undefined): Display | undefined {
  if (asked === 'none') return undefined;
  const holder = globalThis as { [key]?: Map<Shown, Display> };
  holder[key] ??= new Map();
  const mode = possible(asked);
  const known = holder[key].get(mode);
  if (known) return known;
  const display = create(mode);
  holder[key].set(mode, display);
  return display;
}

function possible(asked: Shown | undefined): Shown {
  if (asked === 'json' || asked === 'plain') return asked;
  return canDraw(process.stderr) ? 'live' : 'plain';
}

function create(mode: Shown): Display {
  // Asked for anew each time: somebody may replace it.
  const stream = {
    get isTTY() {
      return process.stderr.isTTY;
    },
    get columns() {
      return process.stderr.columns;
    },
    get rows() {
      return process.stderr.rows;
    },
    write: (text: string) => process.stderr.write(text),
  };
  if (mode === 'json') return new JsonDisplay(stream);
  return new TextDisplay(mode === 'live' ? livePaper(stream) : plainPaper(stream));
}
