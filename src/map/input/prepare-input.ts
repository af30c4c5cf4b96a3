import { constants, createReadStream, type Stats } from 'node:fs';
import { access, type FileHandle, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { BatchlingError, messageOf } from '../../base/errors.ts';
import { orAborted } from '../../concurrency/or-aborted.ts';
import type { InputPart } from './input-part.ts';

/** What a file of the input holds; `lines`: JSON, a value on each line. */
export type FileKind = 'lines' | 'csv' | 'tsv';

/** As it is told by the name of a file; `undefined`: the name says nothing. */
export function kindByName(name: string): FileKind | undefined {
  const [, kind] = /\.(csv|tsv|jsonl|ndjson|json)(\.gz)?$/i.exec(name) ?? [];
  if (kind === undefined) return undefined;
  const lower = kind.toLowerCase();
  return lower === 'csv' || lower === 'tsv' ? lower : 'lines';
}

/** Whether a file is compressed, as it is told by its name. */
export function isPackedName(name: string): boolean {
  return /\.gz$/i.test(name);
}

export interface InputSource {
  /** A path; `-`: standard input. */
  readonly name: string;
  readonly kind: FileKind;
}

/**
 * The input as files of lines that can be read from any line on. A plain file of lines is read where it is. Standard
 * input, pipes, compressed files and tables are copied into the folder as lines first.
 */
export async function prepareInput(
  sources: readonly InputSource[],
  folder: string,
  stdin: Readable,
  stopped: AbortSignal,
): Promise<InputPart[]> {
  const parts: InputPart[] = [];
  for (const [index, { name, kind }] of sources.entries()) {
    const unit = kind === 'lines' ? 'line' : 'row';
    const shown = name === '-' ? 'standard input' : name;
    const file = name === '-' ? undefined : await readableFile(name);
    if (file?.isFile() && kind === 'lines' && !isPackedName(name)) {
      parts.push({ shown, path: name, unit, file });
      continue;
    }
    const path = join(folder, `input-${index}`);
    // What is destroyed does not keep the process alive.
    const bytes = addAbortSignal(stopped, bytesOf(name, stdin));
    await spool(
      kind === 'lines' ? linesOf(bytes, shown) : rowsOf(bytes, kind, shown),
      path,
      stopped,
    );
    parts.push({ shown, path, unit, file: await stat(path) });
  }
  return parts;
}

async function readableFile(name: string): Promise<Stats> {
  try {
    await access(name, constants.R_OK);
    const file = await stat(name);
    if (file.isDirectory()) throw new Error(`${name} is a folder`);
    return file;
  } catch (error) {
    throw new BatchlingError('BAD_INPUT', `The input cannot be read: ${messageOf(error)}`);
  }
}

/** Writes what comes to a file. Nobody knows when the next chunk comes, so an abort does not wait for it. */
export async function spool(
  chunks: AsyncIterable<string | Buffer>,
  path: string,
  stopped: AbortSignal,
): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    await orAborted(copy(chunks, file, stopped), stopped);
  } finally {
    await file.close();
  }
}

async function copy(
  chunks: AsyncIterable<string | Buffer>,
  file: FileHandle,
  stopped: AbortSignal,
): Promise<void> {
  for await (const chunk of chunks) {
    stopped.throwIfAborted();
    await file.writeFile(chunk);
  }
}

function bytesOf(name: string, stdin: Readable): Readable {
  if (name === '-') return stdin;
  const file = createReadStream(name);
  if (!isPackedName(name)) return file;
  const unpacked = createGunzip();
  file.on('error', (error) => unpacked.destroy(error));
  return file.pipe(unpacked);
}

async function* linesOf(bytes: Readable, shown: string): AsyncGenerator<Buffer> {
  try {
    yield* bytes;
  } catch (error) {
    if (!/^Z_/.test((error as NodeJS.ErrnoException).code ?? '')) throw error;
    throw new BatchlingError('BAD_INPUT', `${shown} cannot be unpacked: ${messageOf(error)}`);
  }
}

async function* rowsOf(
  bytes: Readable,
  kind: 'csv' | 'tsv',
  shown: string,
): AsyncGenerator<string> {
  const { readTable } = await import('./read-table.ts');
  yield* readTable(bytes, kind, shown);
}
