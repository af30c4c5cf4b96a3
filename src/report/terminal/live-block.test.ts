import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { TerminalScreen } from '../../../test/support/terminal/screen-of.ts';
import { LiveBlock } from './live-block.ts';

let columns: number;
let written: string;
let block: string[];
let live: LiveBlock;
let program: NodeJS.WriteStream;

beforeEach(() => {
  vi.useFakeTimers();
  columns = 40;
  written = '';
  block = ['working'];
  const write = (text: string) => {
    written += text.replaceAll('\n', '\r\n');
    return true;
  };
  class Terminal {
    readonly isTTY = true;
    write(text: string | Uint8Array): boolean {
      return write(String(text instanceof Uint8Array ? Buffer.from(text) : text));
    }
  }
  program = new Terminal() as unknown as NodeJS.WriteStream;
  const stream = {
    isTTY: true,
    get columns() {
      return columns;
    },
    write,
  };
  live = new LiveBlock(stream, (line) => line, [program]);
  live.open(() => block);
});
afterEach(() => {
  live.close();
  vi.useRealTimers();
});

const shown = () => new TerminalScreen(columns).write(written).lines;
const frame = () => vi.advanceTimersByTime(250);

it('draws on its own clock, and only what has changed', () => {
  expect(written).toBe('');
  frame();
  expect(shown()).toEqual(['working']);
  const before = written;
  frame();
  expect(written).toBe(before);
  block = ['working', 'still'];
  frame();
  expect(shown()).toEqual(['working', 'still']);
});

it('prints lines that stay above itself', () => {
  frame();
  live.print(['sent']);
  expect(shown()).toEqual(['sent', 'working']);
  live.close();
  expect(shown()).toEqual(['sent']);
});

it('makes way for the program, and comes back below', () => {
  frame();
  program.write('hello\n');
  expect(shown()).toEqual(['hello']);
  frame();
  expect(shown()).toEqual(['hello', 'working']);
  program.write(Buffer.from('bytes\n'));
  frame();
  expect(shown()).toEqual(['hello', 'bytes', 'working']);
});

it('waits for the program to end its line; lines that stay wait at most five seconds', () => {
  frame();
  program.write('Name? ');
  frame();
  live.print(['sent']);
  frame();
  expect(shown()).toEqual(['Name?']);
  program.write('Ada\u001b[0m\n\u001b[39m');
  expect(shown()).toEqual(['Name? Ada', 'sent', 'working']);
  program.write('...');
  live.print(['trouble']);
  vi.advanceTimersByTime(6_000);
  expect(shown()).toEqual(['Name? Ada', 'sent', '...', 'trouble', 'working']);
});

it('is cut to the width of the terminal, and leaves nothing behind when that becomes narrower', () => {
  block = ['x'.repeat(60)];
  frame();
  expect(shown()).toEqual([`${'x'.repeat(38)}…`]);
  // Such a terminal has broken the line by itself.
  columns = 20;
  block = ['done'];
  frame();
  expect(shown()).toEqual(['done']);
});

it('leaves the streams of the program as they were', () => {
  expect(Object.hasOwn(program, 'write')).toBe(true);
  live.close();
  expect(Object.hasOwn(program, 'write')).toBe(false);
  frame();
  expect(written).toBe('');
});
