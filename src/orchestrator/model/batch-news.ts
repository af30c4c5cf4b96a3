import type { OutboxMessage } from '../../ledger/ledger.ts';
import type { NewsType } from '../../webhooks/mailbox.ts';
import { labelsOf } from '../events/batch-labels.ts';
import type { Batch } from './batch.ts';
import type { EngineContext } from './engine-context.ts';

/** What the webhooks of a batch's scopes are told of it, once for each `kind` of this type. */
export function batchNews(
  { mailbox }: EngineContext,
  batch: Batch,
  type: NewsType,
  facts: object,
  kind = '',
): OutboxMessage[] {
  const data = { ...batch.facts(), ...labelsOf(batch.scopes), ...facts };
  return webhooksOf(batch).map((webhook) =>
    mailbox.message(webhook, type, `${batch.token}\n${kind}`, data),
  );
}

/** They are in the outbox. */
export function sendNews({ mailbox }: EngineContext, batch: Batch): void {
  for (const webhook of webhooksOf(batch)) mailbox.use(webhook);
}

function webhooksOf({ scopes }: Batch): readonly string[] {
  const named = new Set<string>();
  for (const { webhook } of scopes) if (webhook !== undefined) named.add(webhook);
  return [...named];
}
