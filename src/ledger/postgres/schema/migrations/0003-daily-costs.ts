import type { Migration } from '../../../sql/migrations.ts';

/** What tells rows of `daily_cost` apart. An entry of an index is small, and twelve tags may be long. */
export const DAILY_COST_KEY =
  'day, lane, md5(provider || chr(10) || model || chr(10) || name || chr(10) || tags)';

/**
 * Totals by the day, which stay when answers and batches are dropped. They begin with what the batches know: the parts
 * of the input that were cached, and ordinary calls, were not written down before. All sums have one type, whose sums
 * are numbers to the driver.
 */
export const dailyCosts: Migration = {
  version: 3,
  sql: `
    CREATE TABLE daily_cost (
      day text NOT NULL,
      provider text NOT NULL,
      model text NOT NULL,
      lane text NOT NULL,
      name text NOT NULL,
      tags text NOT NULL,
      calls double precision NOT NULL,
      unpriced double precision NOT NULL,
      input_tokens double precision NOT NULL,
      output_tokens double precision NOT NULL,
      cache_read_tokens double precision NOT NULL,
      cache_write_tokens double precision NOT NULL,
      paid double precision NOT NULL,
      saved double precision NOT NULL,
      estimate double precision NOT NULL
    );
    CREATE UNIQUE INDEX daily_cost_labels ON daily_cost (${DAILY_COST_KEY});

    INSERT INTO daily_cost
    SELECT to_char(to_timestamp(coalesce(ended_at, accepted_at, created_at) / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD'),
      queue.provider, model, 'batch', coalesce(name, ''), tags,
      sum(counted), sum(CASE WHEN paid IS NULL THEN counted ELSE 0 END), sum(input_tokens), sum(output_tokens),
      0, 0, coalesce(sum(paid), 0), coalesce(sum(saved), 0),
      coalesce(sum(CASE WHEN paid IS NOT NULL THEN estimate * least(1, counted::double precision / count) END), 0)
    FROM batch JOIN queue ON queue.id = batch.queue
    WHERE counted > 0 GROUP BY 1, queue.provider, model, coalesce(name, ''), tags;
  `,
};
