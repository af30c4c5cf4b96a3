import { open, readFile, rename } from 'node:fs/promises';
import { BatchlingError } from '../../base/errors.ts';
import { parseJson } from '../../base/json.ts';
import { inputStart, type Position } from '../input/input-part.ts';

const stateVersion = 1;

/** A file of the input, as far as it can be told apart from a changed one. */
export interface InputFacts {
  readonly name: string;
  readonly bytes: number;
  /** When it was changed last; a copy has another time and the same digest. */
  readonly modified: number;
  readonly digest: string;
}

/** What the check of the input has found. */
export interface CheckedFacts {
  readonly lines: number;
  readonly selected: number;
  readonly chunkLines: number;
  /** Lines are identical or doubled: which sample each of them is has to be found again. */
  readonly hasDoubles: boolean;
  /** The columns of the rows, where the output is a table. */
  readonly columns?: readonly string[];
  /** Lines that `--sample` has chosen. */
  readonly sample?: readonly number[];
}

/** How far the output is. */
export interface Progress {
  readonly position: Position;
  /** Bytes of the output and of the errors that count. */
  readonly output: number;
  readonly errors: number;
  readonly done: number;
  readonly failed: number;
  /** Chunks that are written, where output is not in the order of the input. */
  readonly chunks: readonly number[];
}

export interface JobState {
  readonly version: number;
  /** The name of the run in the ledger. */
  readonly run: string;
  readonly input: readonly InputFacts[];
  /** Everything that decides about the requests and the output, by the names of the flags. */
  readonly terms: Readonly<Record<string, string>>;
  readonly checked: CheckedFacts;
  readonly progress: Progress;
  readonly isFinished: boolean;
  /** The name in the ledger of the try, under way, of the lines that failed. */
  readonly retryRun?: string;
  /** Answers of failed lines that were tried again are about to be put in their places. */
  readonly isMerging?: true;
}

export const noProgress: Progress = {
  position: inputStart,
  output: 0,
  errors: 0,
  done: 0,
  failed: 0,
  chunks: [],
};

/** Whether lines, by their numbers, are in the output already. */
export function writtenLines(
  { position, chunks }: Progress,
  chunkLines: number,
): (number: number) => boolean {
  const whole = new Set(chunks);
  return (number) => number < position.line || whole.has(Math.floor(number / chunkLines));
}

/** What a job remembers beside its output, so that the same command goes on. */
export class StateFile {
  readonly path: string;

  constructor(output: string) {
    this.path = `${output}.batchling.json`;
  }

  async read(): Promise<JobState | undefined> {
    let text: string;
    try {
      text = await readFile(this.path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    const state = parseJson(text) as JobState | undefined;
    if (state?.version === stateVersion) return state;
    throw new BatchlingError(
      'INVALID_OPTION',
      `${this.path} was not written by this version of batchling, so it is not known how far the job is. ` +
        '--restart begins anew; answers that the ledger has are not paid again.',
    );
  }

  /** Whole, or as it was before: a reader never sees half of it. */
  async write(state: Omit<JobState, 'version'>): Promise<void> {
    const draft = `${this.path}.new`;
    const file = await open(draft, 'w');
    try {
      await file.writeFile(`${JSON.stringify({ version: stateVersion, ...state })}\n`);
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(draft, this.path);
  }
}

/** What differs between two sets of terms, in words. */
export function differences(
  before: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  return names
    .filter((name) => before[name] !== now[name])
    .map((name) => `${name} was ${shown(before[name])} and is ${shown(now[name])}`);
}

function shown(value: string | undefined): string {
  if (value === undefined) return 'not given';
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}…` : value);
}
