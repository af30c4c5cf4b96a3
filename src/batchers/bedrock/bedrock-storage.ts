import { UnknownOutcomeError } from '../../base/errors.ts';
import type { Wire } from '../../http/wire.ts';
import { decoded } from '../shared/paths.ts';
import { expectOk } from '../shared/replies.ts';
import { judgeStorage } from './bedrock-judge.ts';
import { type Files, objectRequest } from './bedrock-places.ts';

/** A job writes three objects, and no list that shows thousands is one of its folder. */
const mostPages = 50;

/** The keys of all objects of a folder. */
export async function keysIn(wire: Wire, files: Files): Promise<string[]> {
  const keys: string[] = [];
  let token: string | undefined;
  for (let page = 1; page <= mostPages; page += 1) {
    const query = new URLSearchParams({ 'list-type': '2', 'encoding-type': 'url' });
    query.set('prefix', files.folder);
    if (token !== undefined) query.set('continuation-token', token);
    const { path, audience } = objectRequest(files, '');
    const request = { method: 'GET', path: `${path.replace(/\/$/, '')}?${plain(query)}` } as const;
    const reply = await expectOk(wire, { ...request, ...(audience && { audience }) }, judgeStorage);
    const xml = await reply.text();
    if (!/<ListBucketResult[\s>]/.test(xml)) {
      throw new UnknownOutcomeError('S3 should have sent a list of objects.');
    }
    const found = elements(xml, 'Key').map((key) => decoded(key.replace(/\+/g, ' ')));
    keys.push(...found.filter((key) => isIn(files, key)));
    const [next] = elements(xml, 'NextContinuationToken');
    if (next === undefined) return keys;
    if (next === token) break;
    token = next;
  }
  throw new UnknownOutcomeError(`The list of objects in s3://${files.bucket} does not end.`);
}

/** Whatever a list shows, only what is in the folder is read or deleted: a URL resolves `..`, which S3 does not. */
function isIn({ folder }: Files, key: string): boolean {
  return key.startsWith(folder) && !/(^|\/)\.{1,2}(\/|$)/.test(key);
}

/** `URLSearchParams` writes a space as `+`, which a signature does not know. */
function plain(query: URLSearchParams): string {
  return query.toString().replace(/\+/g, '%20');
}

function elements(xml: string, name: string): string[] {
  const found = xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'));
  return [...found].map(([, text = '']) => text.replace(/&amp;/g, '&'));
}
