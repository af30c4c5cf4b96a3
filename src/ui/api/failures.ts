import type { LedgerReader } from '../../ledger/view.ts';
import { itemId } from '../../orchestrator/model/request.ts';
import { errorKind, errorText } from '../../report/text/error-text.ts';
import type { FailureJson, FailuresJson } from '../api-types.ts';
import { batchesJson } from './batch-json.ts';
import { failureAdvice } from './failure-advice.ts';

const mostLooked = 2_000;
const mostBatches = 20;

type Group = { -readonly [Name in keyof FailureJson]: FailureJson[Name] };

/** The newest failures, grouped by what their errors have in common. */
export async function readFailures(ledger: LedgerReader, at: number): Promise<FailuresJson> {
  const failed = await ledger.view.failed(mostLooked);
  const groups = new Map<string, Group>();
  for (const one of failed) {
    if (one.answer === undefined) continue;
    const { status, body } = one.answer;
    const message = errorText(one.answer);
    const kind = errorKind(status, message);
    const group = groups.get(kind) ?? {
      status,
      message,
      count: 0,
      newest: one.at,
      oldest: one.at,
      models: [],
      advice: failureAdvice(status, body),
      example: { request: one.request, id: itemId(one.fingerprint, one.occurrence) },
    };
    group.count += 1;
    group.newest = Math.max(group.newest, one.at);
    group.oldest = Math.min(group.oldest, one.at);
    const model = `${one.provider} ${one.model}`;
    if (!group.models.includes(model)) group.models = [...group.models, model];
    groups.set(kind, group);
  }
  const refused = await ledger.view.batches({ failed: true, limit: mostBatches });
  const batches = await batchesJson(ledger, refused.batches, at);
  return {
    at,
    groups: [...groups.values()].sort((a, b) => b.count - a.count || b.newest - a.newest),
    looked: failed.length,
    isMore: failed.length === mostLooked,
    batches: batches.map((batch) => ({
      ...batch,
      advice: failureAdvice(undefined, batch.failure),
    })),
  };
}
