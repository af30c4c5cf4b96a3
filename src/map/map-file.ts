import { dirname } from 'node:path';
import type { BatchifyOptions } from '../options/index.ts';
import { lockedWorkspace, temporaryWorkspace } from './disk/workspace.ts';
import type { MapRequest } from './map-request.ts';
import { refuseOutput } from './prepared-job.ts';
import { retryErrors } from './retry-errors.ts';
import { type MapEnd, type MapSurroundings, runMap } from './run-map.ts';

/** Does what `batchling map` is asked to do. Of two processes with one output the second one is refused. */
export async function mapFile(
  request: MapRequest,
  given: BatchifyOptions,
  surroundings: MapSurroundings,
): Promise<MapEnd> {
  const { output } = request;
  await refuseOutput(request);
  const workspace = output === undefined ? temporaryWorkspace() : lockedWorkspace(output);
  const { folder, close } = await workspace;
  try {
    return request.retryErrors
      ? await retryErrors(request, given, surroundings, folder)
      : await runMap(request, given, surroundings, { folder, output });
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ENOSPC' ? fullDisk(folder, error) : error;
  } finally {
    await close();
  }
}

/** What the system says names no file. Where the output itself cannot be written, its own error does. */
function fullDisk(folder: string, cause: unknown): Error {
  const message =
    `The disk of ${dirname(folder)} is full. The job keeps copies of tables, of standard input and of compressed input ` +
    'there, and 50 bytes for each line. With more room the same command goes on; without -o, TMPDIR names another folder.';
  return new Error(message, { cause });
}
