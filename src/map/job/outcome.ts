import type { Answer } from '../../base/types.ts';
import type { Position } from '../input/input-part.ts';

/** What became of a line. */
export interface Outcome {
  /** Among all lines of the input, from 0. */
  readonly number: number;
  readonly text: string;
  readonly result: Answer | { readonly bad: string; readonly id: string };
}

/** Where outcomes go. */
export interface Sink {
  /** The next outcomes; everything of their chunk before `next` is told with them. */
  take(outcomes: readonly Outcome[], next: Position): Promise<void>;
  /** Chunks that were written by an earlier run, where output is not in the order of the input. */
  isWritten?(chunk: number): boolean;
  /** All of a chunk is written. */
  written?(chunk: number): Promise<void>;
}
