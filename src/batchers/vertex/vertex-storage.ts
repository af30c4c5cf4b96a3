import { UnknownOutcomeError } from '../../base/errors.ts';
import { field, fields, text } from '../../base/json.ts';
import type { Wire } from '../../http/wire.ts';
import { int64 } from '../google/google-operation.ts';
import { expectDeleted, expectOk } from '../shared/replies.ts';
import { judgeVertex } from './vertex-judge.ts';

/** Where an object of Cloud Storage is. */
export interface StoredObject {
  readonly bucket: string;
  readonly name: string;
}

const ownOrigin = 'https://storage.googleapis.com';

/**
 * Where Cloud Storage is, seen from the base of calls: at its own host for Google's hosts. A gateway, which
 * may see the credential for itself only, has to serve it beside Vertex.
 */
export function storageOf(base: string): string {
  if (new URL(base).hostname.endsWith('.googleapis.com')) return ownOrigin;
  return base.replace(/\/+$/, '').replace(/\/v1(?:beta1)?$/, '');
}

/** The URL of an object, or of all objects of a bucket. */
export function objectUrl(wire: Wire, { bucket, name }: Pick<StoredObject, 'bucket' | 'name'>) {
  return `${bucketUrl(wire, bucket)}/${encodeURIComponent(name)}`;
}

function bucketUrl({ base }: Wire, bucket: string): string {
  return `${storageOf(base)}/storage/v1/b/${encodeURIComponent(bucket)}/o`;
}

export function gsUri({ bucket, name }: StoredObject): string {
  return `gs://${bucket}/${name}`;
}

/** `undefined` for what is no such URI. */
export function readGsUri(uri: string | undefined): StoredObject | undefined {
  const [, bucket, name] = /^gs:\/\/([^/]+)\/(.+?)\/*$/.exec(uri ?? '') ?? [];
  return bucket === undefined || name === undefined ? undefined : { bucket, name };
}

/** An object as a list shows it. */
export interface ListedObject extends StoredObject {
  readonly size: number;
}

/** No batch has as many objects as fit on these; a list that goes on has lost its way. */
const mostPages = 500;

/** Every object of a folder. */
export async function objectsIn(wire: Wire, folder: StoredObject): Promise<ListedObject[]> {
  const { bucket } = folder;
  const objects: ListedObject[] = [];
  let token: string | undefined;
  for (let page = 1; page <= mostPages; page += 1) {
    const query = new URLSearchParams({ prefix: `${folder.name}/` });
    if (token !== undefined) query.set('pageToken', token);
    const path = `${bucketUrl(wire, bucket)}?${query}`;
    const reply = await expectOk(wire, { method: 'GET', path }, judgeVertex);
    const { items, next } = readPage(await reply.json());
    for (const item of items) {
      const name = text(field(item, 'name'));
      // Whatever a list shows, only what is in the folder is read or deleted.
      if (name?.startsWith(`${folder.name}/`)) {
        objects.push({ bucket, name, size: int64(field(item, 'size')) });
      }
    }
    if (next === undefined) return objects;
    if (next === token) break;
    token = next;
  }
  throw new UnknownOutcomeError(`The list of objects in ${gsUri(folder)} does not come to an end.`);
}

/** An empty list has no `items`, but says what it is. */
function readPage(body: unknown): { items: readonly unknown[]; next: string | undefined } {
  const { kind, items = [], nextPageToken } = fields(body);
  if (kind !== 'storage#objects' || !Array.isArray(items)) {
    throw new UnknownOutcomeError('Cloud Storage should have sent a list of objects.');
  }
  return { items, next: text(nextPageToken) };
}

/** Deletes an object; one that is gone already is as good. */
export async function deleteObject(wire: Wire, object: StoredObject): Promise<void> {
  await expectDeleted(wire, { path: objectUrl(wire, object) }, judgeVertex);
}
