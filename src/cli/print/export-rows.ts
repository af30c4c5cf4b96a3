import type { BatchSummary, MemberSummary } from '../../ledger/ledger.ts';
import { inlineBody } from './answer-text.ts';
import { isoOf } from './batch-json.ts';
import { csvLine } from './csv-line.ts';
import { idOf, memberFacts } from './request-rows.ts';

/** One line of JSON; answer and request stand in it as they came. */
export function jsonRow(batch: BatchSummary, member: MemberSummary, body?: string): string {
  const { answer } = member;
  const facts = JSON.stringify({
    batch: batch.token,
    ...(batch.remoteId !== undefined && { remoteId: batch.remoteId }),
    provider: batch.provider,
    model: batch.model,
    ...memberFacts(member),
  });
  const answered = answer ? `,"answer":${inlineBody(answer.body)}` : '';
  const asked = body === undefined ? '' : `,"request":${inlineBody(body)}`;
  return `${facts.slice(0, -1)}${answered}${asked}}\n`;
}

const titles = ['batch', 'remoteId', 'provider', 'model', 'id', 'occurrence', 'state', 'attempt'];
export const csvHead = csvLine([...titles, 'since', 'status', 'answer', 'request']);

export function csvRow(batch: BatchSummary, member: MemberSummary, body?: string): string {
  const { occurrence, state, attempt, at, answer } = member;
  const { token, remoteId = '', provider, model } = batch;
  const cells = [token, remoteId, provider, model, idOf(member), occurrence, state, attempt + 1];
  cells.push(isoOf(at), answer?.status ?? '', answer?.body ?? '', body ?? '');
  return csvLine(cells);
}
