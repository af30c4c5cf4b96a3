import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** Locks of a session that other sessions have to wait for. */
export interface HeldLocks {
  /** Resolves when so many sessions wait for these locks, also one behind the other, or when they are released. */
  awaited(sessions: number): Promise<void>;
  /** What the SQL has written stays. Done after each test anyway. */
  release(): Promise<void>;
}

const WAITING = `
  WITH RECURSIVE waiting (pid) AS (
    SELECT pid FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))
    UNION
    SELECT other.pid FROM pg_locks AS other
      JOIN waiting ON NOT granted AND waiting.pid = ANY(pg_blocking_pids(other.pid))
  )
  SELECT count(*)::int AS sessions FROM waiting`;

/** Runs SQL that begins a transaction. */
export async function holdLocks(url: string, sql: string): Promise<HeldLocks> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(sql);
  let held = true;
  return {
    async awaited(sessions) {
      while (held) {
        const { rows } = await client.query<{ sessions: number }>(WAITING);
        if ((rows[0]?.sessions ?? 0) >= sessions) return;
        await sleep(5);
      }
    },
    async release() {
      if (!held) return;
      held = false;
      await client.query('COMMIT');
      await client.end();
    },
  };
}
