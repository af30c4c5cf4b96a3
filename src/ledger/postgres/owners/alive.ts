/** SQL: whether a row of `owner` is here. */
export const ALIVE = '(closed_at IS NULL AND lease_until > clock_timestamp())';

/** SQL: ids of owners that are here. */
export const ALIVE_OWNERS = `(SELECT id FROM owner WHERE ${ALIVE})`;
