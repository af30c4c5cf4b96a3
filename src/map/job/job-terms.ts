import type { ResolvedOptions } from '../../options/index.ts';
import type { Destination } from '../destination.ts';
import type { NumberFile } from '../disk/number-file.ts';
import type { InputPart } from '../input/input-part.ts';
import type { LineFormat } from '../lines/line-format.ts';
import type { LineSet } from './line-set.ts';
import type { Selection } from './selection.ts';

/** What a job works on. */
export interface JobTerms {
  readonly parts: readonly InputPart[];
  /** Lines of the input that are read. */
  readonly total: number;
  readonly format: LineFormat;
  readonly destination: Destination;
  readonly options: ResolvedOptions;
  readonly selection: Selection;
  /** Which sample of identical lines a line is; `doubledId` for a line whose id another one has. */
  readonly samples: NumberFile;
  /** Lines whose known answers did not fit: they are asked anew. Missing: there are none. */
  readonly unfit?: LineSet | undefined;
  /** Lines that are asked together. */
  readonly chunkLines: number;
  /** A folder for files of the job's own, removed at its end. */
  readonly folder: string;
}

/** In the place of a sample. */
export const doubledId = -1;
