import { field, fields, text } from '../../base/json.ts';
import type { Handle } from '../../base/types.ts';
import { sleep } from '../../concurrency/backoff.ts';
import { multipart } from '../../http/multipart.ts';
import type { StreamedBody, Wire } from '../../http/wire.ts';
import type { Plan } from '../batcher.ts';
import type { ReplyJudge } from '../shared/judge-reply.ts';
import { RefusedError } from '../shared/refused-error.ts';
import { expectDone, expectOk } from '../shared/replies.ts';
import { isUrl } from '../shared/result-reply.ts';

const firstPause = 100;
const longestPause = 5_000;
const patience = 10 * 60_000;

/** A dataset of an account. Its id may have come from the provider. */
export function datasetAt(account: string, id: string): string {
  return `/accounts/${encodeURIComponent(account)}/datasets/${encodeURIComponent(id)}`;
}

/** Makes a dataset of these lines, and waits until jobs can use it. Nothing is billed here. */
export async function newDataset(
  wire: Wire,
  { account, dataset = '' }: Handle & { readonly account: string },
  plan: Plan,
  file: StreamedBody,
  judge: ReplyJudge,
): Promise<void> {
  // The number of examples has to be said, and is not compared with the lines.
  const content = { userUploaded: {}, exampleCount: String(plan.count) };
  const made = {
    method: 'POST',
    path: `/accounts/${encodeURIComponent(account)}/datasets`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ datasetId: dataset, dataset: content }),
  } as const;
  await expectDone(wire, made, judge);
  const place = datasetAt(account, dataset);
  const form = multipart([], {
    field: 'file',
    filename: `${plan.token}.jsonl`,
    contentType: 'application/jsonl',
    body: file,
  });
  const headers = { 'content-type': form.contentType };
  const sent = { method: 'POST', path: `${place}:upload`, headers, body: form.body } as const;
  await expectDone(wire, sent, judge);
  await untilReady(wire, place, judge);
}

async function untilReady(wire: Wire, path: string, judge: ReplyJudge): Promise<void> {
  const until = wire.clock.now() + patience;
  for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
    const dataset = await (await expectOk(wire, { method: 'GET', path }, judge)).json();
    if (text(field(dataset, 'state')) === 'READY') return;
    if (wire.clock.now() >= until) {
      const message = 'Fireworks has had the dataset for ten minutes, and it is still not ready.';
      throw new RefusedError({ code: 'dataset_pending', message, meaning: 'busy', next: 'later' });
    }
    await sleep(wire.clock, pause);
  }
}

/** Where the files of a dataset can be read, for ten minutes. */
export async function downloadUrls(
  wire: Wire,
  dataset: string,
  judge: ReplyJudge,
): Promise<readonly string[]> {
  const request = { method: 'GET', path: `${dataset}:getDownloadEndpoint` } as const;
  const body = await (await expectOk(wire, request, judge)).json();
  const urls: readonly unknown[] = Object.values(fields(field(body, 'filenameToSignedUrls')));
  return urls.filter((url) => typeof url === 'string').filter(isUrl);
}
