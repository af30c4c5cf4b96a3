import type { DisplayMode } from './display.ts';
import { canDraw, type DisplayStream, isCi } from './terminal/terminal.ts';

/** The mode that a stream can show: live in a terminal, plain lines elsewhere and in CI. */
export function possibleMode<Asked extends DisplayMode>(
  asked: Asked | undefined,
  stream: DisplayStream,
): Asked | 'live' | 'plain' {
  if (asked !== undefined && asked !== 'live') return asked;
  if (asked === undefined && isCi()) return 'plain';
  return canDraw(stream) ? 'live' : 'plain';
}
