import { GatewayError } from '../../gateway/gateway-error.ts';
import type { LedgerReader } from '../../ledger/view.ts';
import type { RequestJson, TextJson } from '../api-types.ts';
import { memberJson } from './member-json.ts';

/** A browser shows no more of a text at once: `batchling export` writes all of it. */
const longestText = 2_000_000;

export async function readRequest(ledger: LedgerReader, id: string): Promise<RequestJson> {
  const found = /^\d{1,15}$/.test(id) ? await ledger.view.request(Number(id)) : undefined;
  if (found === undefined) throw new GatewayError('not_found', 'The ledger has no such request.');
  const { provider, endpoint, model, base, generation, batch, body, answer } = found;
  const samples = await ledger.view.samples(found.request);
  return {
    ...memberJson(found),
    provider,
    endpoint,
    model,
    base,
    generation,
    ...(batch && {
      batch: {
        id: batch.token,
        tags: batch.tags,
        ...(batch.name !== undefined && { name: batch.name }),
      },
    }),
    ...(body !== undefined && { question: textJson(body) }),
    ...(answer && {
      answer: { ...textJson(answer.body), status: answer.status, headers: answer.headers },
    }),
    samples: samples.map((sample) => memberJson(sample)),
  };
}

function textJson(text: string): TextJson {
  if (text.length <= longestText) return { text };
  return { text: text.slice(0, longestText), whole: text.length };
}
