import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agreementCommands, Script } from '../conformance/agreement.test-helper.ts';
import { openMemoryLedger } from '../memory/memory-ledger.ts';
import { usePostgres } from './test/temporary.test-helper.ts';

const { open, closeAll } = usePostgres();

describe('the memory ledger and the PostgreSQL ledger', () => {
  it('give the same admissions for any sequence of operations', async () => {
    await fc.assert(
      fc.asyncProperty(
        agreementCommands,
        fc.constantFrom('answers', 'none'),
        async (list, keep) => {
          const clock = { now: () => 1_000 };
          const memory = new Script(await openMemoryLedger({ clock, keep }));
          const postgres = new Script(await open({ clock, keep }));
          for (const command of list) {
            expect(await postgres.run(command), JSON.stringify(command)).toEqual(
              await memory.run(command),
            );
          }
          await closeAll();
        },
      ),
      { numRuns: Number(process.env.BATCHLING_TEST_RUNS ?? 5) },
    );
  });
});
