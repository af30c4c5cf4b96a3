import type { Migration } from '../../../sql/migrations.ts';

/**
 * Totals by the day, which stay when answers and batches are dropped. They begin with what the batches know: the parts
 * of the input that were cached, and ordinary calls, were not written down before.
 */
export const dailyCosts: Migration = {
  version: 7,
  sql: `
    CREATE TABLE daily_cost (
      day TEXT NOT NULL,
      provider TEXT NOT NULL,
      model TEXT NOT NULL,
      lane TEXT NOT NULL,
      name TEXT NOT NULL,
      tags TEXT NOT NULL,
      calls INTEGER NOT NULL,
      unpriced INTEGER NOT NULL,
      input_tokens INTEGER NOT NULL,
      output_tokens INTEGER NOT NULL,
      cache_read_tokens INTEGER NOT NULL,
      cache_write_tokens INTEGER NOT NULL,
      paid REAL NOT NULL,
      saved REAL NOT NULL,
      estimate REAL NOT NULL,
      PRIMARY KEY (day, provider, model, lane, name, tags)
    ) WITHOUT ROWID;

    INSERT INTO daily_cost
    SELECT date(coalesce(ended_at, accepted_at, created_at) / 1000, 'unixepoch') AS day, queue.provider, model,
      'batch', coalesce(name, ''), tags, sum(counted), sum(iif(paid IS NULL, counted, 0)),
      sum(input_tokens), sum(output_tokens), 0, 0, total(paid), total(saved),
      total(iif(paid IS NULL, 0, estimate * min(1.0, counted * 1.0 / count)))
    FROM batch JOIN queue ON queue.id = batch.queue
    WHERE counted > 0 GROUP BY day, queue.provider, model, coalesce(name, ''), tags;
  `,
};
