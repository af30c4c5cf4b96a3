import type { Migration } from '../../../sql/migrations.ts';

/**
 * A CRC-32 of each block of answers. SQLite has none: it hands out the bytes of a broken page, and they would
 * be served as an answer. Blocks that were written before have none (NULL), and are taken as they are.
 */
export const answerChecksums: Migration = {
  version: 5,
  sql: 'ALTER TABLE answer ADD COLUMN crc INTEGER;',
};
