import type { LeftBehind } from '../../report/leave-note.ts';

/** Tells the user what the process leaves behind, on stderr. */
export async function tellLeft(why: 'detached' | 'interrupted', left: LeftBehind): Promise<void> {
  const { BATCHLING_DISPLAY: display } = process.env;
  if (display === 'none') return;
  if (display === 'json') {
    const { calls, batches, unsent } = left;
    await write(JSON.stringify({ event: why, calls, batches, unsent }));
    return;
  }
  const { leaveNote } = await import('../../report/leave-note.ts');
  for (const line of leaveNote(why, left)) await write(`batchling: ${line}`);
}

/** Resolves when it is written: the process exits right after the last line. */
function write(line: string): Promise<void> {
  return new Promise((resolve) => process.stderr.write(`${line}\n`, () => resolve()));
}
