import type { Wire } from '../../http/wire.ts';
import type { Remote, Row } from '../batcher.ts';
import { expectOk, ReplyError } from '../shared/replies.ts';
import { resultRows } from '../shared/result-rows.ts';
import { Echoes } from './vertex-echoes.ts';
import { judgeVertex } from './vertex-judge.ts';
import { readRow } from './vertex-rows.ts';
import {
  gsUri,
  type ListedObject,
  objectsIn,
  objectUrl,
  readGsUri,
  type StoredObject,
} from './vertex-storage.ts';

/** The rows of every file that a job has written. */
export async function* rowsOf(wire: Wire, remote: Remote): AsyncIterable<readonly Row[]> {
  const { directory, input } = remote.sources;
  const folder = readGsUri(directory);
  if (folder === undefined) return;
  const files = filesAmong(await objectsIn(wire, folder), folder);
  const isCut = remote.unfinished !== undefined;
  const hasAnswered = (remote.counts?.completed ?? 0) > 0;
  // A job whose requests all failed may have a list of errors and nothing else.
  const mayLackAnswers = (isCut || files.errors.length > 0) && !hasAnswered;
  if (files.predictions.length === 0 && !mayLackAnswers) throw gone(gsUri(folder));
  const echoes = new Echoes(wire, input);
  for (const file of files.predictions) {
    // A job that was cut short may have run nothing.
    if (isCut && file.size === 0) continue;
    for await (const rows of linesOf(wire, file)) yield echoes.name(rows);
  }
  for (const file of files.errors) {
    for await (const rows of linesOf(wire, file)) {
      // A list of errors adds to the predictions; by itself it proves nothing.
      yield echoes.name(rows.filter((row) => !('unreadable' in row)));
    }
  }
}

/** Whether a job has written anything that could be a row. */
export async function hasRows(wire: Wire, { sources }: Remote): Promise<boolean> {
  const folder = readGsUri(sources.directory);
  if (folder === undefined) return false;
  const { predictions, errors } = filesAmong(await objectsIn(wire, folder), folder);
  return [...predictions, ...errors].some(({ size }) => size > 0);
}

async function* linesOf(wire: Wire, file: ListedObject): AsyncIterable<readonly Row[]> {
  const path = `${objectUrl(wire, file)}?alt=media`;
  const reply = await expectOk(wire, { method: 'GET', path }, judgeVertex);
  yield* resultRows(reply, readRow);
}

/**
 * `predictions.jsonl`, or several of them with numbers; `errors_0001.jsonl` beside them. While a job runs its
 * rows are collected under "incremental_predictions": they count only where nothing else was written.
 */
function filesAmong(objects: readonly ListedObject[], folder: StoredObject) {
  const isIncremental = ({ name }: ListedObject) =>
    name.slice(folder.name.length).includes('incremental_predictions');
  const basename = ({ name }: ListedObject) => name.slice(name.lastIndexOf('/') + 1);
  const final = objects.filter((object) => !isIncremental(object));
  const predictions = final.filter((object) => basename(object).startsWith('predictions'));
  return {
    predictions: predictions.length > 0 ? predictions : objects.filter(isIncremental),
    errors: final.filter((object) => basename(object).startsWith('errors') && object.size > 0),
  };
}

function gone(uri: string): ReplyError {
  const message = 'The folder of the results holds none.';
  const failure = { code: 'no_results', message, meaning: 'gone', next: 'fail' } as const;
  return new ReplyError({ method: 'GET', path: uri }, failure, 404);
}
