// Prints docs/guarantees.md from what the tests in test/guarantees have found out:
//   npx vitest run test/guarantees; npx tsx scripts/guarantees-doc.ts > docs/guarantees.md
import { faultCases } from '../test/guarantees/faults.ts';
import { readFindings } from '../test/guarantees/findings.ts';
import { tableOf } from '../test/guarantees/table.ts';

const page = `# Guarantees

What batchling promises when things go wrong, and what becomes of your calls under each fault that
providers and networks have been seen with.

1. **The right answer to the right caller.** Results are matched by id, never by their order.
2. **Nothing is paid for twice by our doing.** What a provider has accepted is not sent again, not even by a
   program that was killed at any instant and runs again on the same ledger. If it is unclear whether a batch
   was accepted, it is looked for first. Where its create echoes something of ours (the id of the input file, a
   name, metadata: nearly everywhere, see [providers.md](providers.md)) the search is exact and takes 15 seconds. Anthropic,
   sference and OpenRouter echo nothing: batches that are newer and of the same size are candidates, the ids in their results are
   the proof, and only a batch that stays invisible for 10 minutes is sent again, which is reported (\`batch:resent\`).
3. **Nothing is lost and nothing hangs.** Every caller gets its answer, or an HTTP error that its SDK raises as
   usual: the provider's own where there is one, otherwise one of type \`batchling_…\`. A request that failed in a
   way that may pass (429, 5xx, never run) is tried up to \`attempts\` times, an expired one once more. Waiting for
   room uses up no attempt.
4. **Nothing is sent again in haste.** An accepted batch that cannot be read may be paid for. Errors of polls and
   downloads are waited out. A key that is refused is never a reason to send again: after 10 minutes the callers
   are told. "Not found" is one only after 30 minutes, for the same account. Each of the two counts from its own first
   time since the last good answer.

Not covered: ordinary calls (those that bypass the batch, \`onDeadline: "realtime"\`, and the
[lanes](lanes.md) \`flex\` and \`realtime\`, where a call that was on the wire at a crash may be paid twice); a ledger that was deleted;
two ledgers that know nothing of each other; a provider that bills what it never delivers, or shows an
accepted batch later than the searches above last. Where that makes an execution be paid for a second time, the
table says so.

## Faults

Each row is a test: \`test/guarantees\` plays it with the official SDK, the standard options, a real ledger
and a simulated provider (\`batchling/simulator\`) that counts what it executes and bills. The time of both is
simulated, so "for good" is for good. This page is made by \`scripts/guarantees-doc.ts\` from what that
run has found out, and the tests fail when it says anything else.

- **what its caller gets**: for all requests of the batch, or one line per group.
- **executions per request**: how often the model worked on it; "not billed" are those that failed or left no
  usable line.
- **requests sent again**: how often a request was accepted by the provider beyond the first time, summed over the
  requests. A batch that was refused as a whole counts here, and costs nothing.

${tableOf(faultCases, readFindings()).join('\n')}
`;

process.stdout.write(page);
