import { createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { writeTo } from './output.ts';

/** Where an export goes. */
export interface ExportTarget {
  write(text: string): Promise<void>;
  finish(): Promise<void>;
  discard(): Promise<void>;
}

/** A file that is complete or not there at all, or stdout. Answers are private: only the user may read it. */
export async function openExport(
  output: string | undefined,
  force: boolean,
): Promise<ExportTarget> {
  if (output === undefined) {
    const nothing = () => Promise.resolve();
    return { write: (text) => writeTo(process.stdout, text), finish: nothing, discard: nothing };
  }
  if (!force && existsSync(output)) {
    throw new Error(`${output} is there already. Choose another file, or replace it with --force.`);
  }
  const draft = `${output}.part`;
  const stream = createWriteStream(draft, { mode: 0o600 });
  const ended = finished(stream);
  // `write` and `finish` reject with the error of the stream.
  ended.catch(() => undefined);
  return {
    write: (text) => Promise.race([writeTo(stream, text), ended]),
    async finish() {
      stream.end();
      await ended;
      await rename(draft, output);
    },
    async discard() {
      stream.destroy();
      await rm(draft, { force: true });
    },
  };
}
