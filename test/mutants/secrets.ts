import type { Mutant } from './mutant.ts';

/** Promise 5: secrets stay secret, and accounts apart. */
export const secrets: readonly Mutant[] = [
  {
    name: 'organisation and project are not sent with batch traffic',
    promise: 5,
    file: 'src/orchestrator/capture/accounts.ts',
    search: 'credentials: () => holder.credentials,',
    replace:
      'credentials: () => ({\n        headers: Object.fromEntries(\n          Object.entries(holder.credentials.headers ?? {}).filter(([name]) => batcher.info.credentialHeaders.includes(name)),\n        ),\n      }),',
    tests: ['test/behaviour/providers/accounts.test.ts'],
  },
  {
    name: 'a key that is echoed by a refusal is told and stored',
    promise: 5,
    file: 'src/batchers/shared/replies.ts',
    search: 'redactBody(body, wire.redact)',
    replace: 'body',
    tests: ['test/behaviour/ledger/secrets.test.ts'],
    only: 'echoed by a refused',
  },
  {
    name: 'a key that is echoed by a line is told and stored',
    promise: 5,
    file: 'src/orchestrator/answer/without-secrets.ts',
    search: 'if (answer.status < 300) return answer;',
    replace: 'if (answer.status > 0) return answer;',
    tests: ['test/behaviour/ledger/secrets.test.ts'],
    only: 'is in no file although',
  },
  {
    name: 'two keys share a queue',
    promise: 5,
    file: 'src/orchestrator/queue/queue-terms.ts',
    search: 'key += `\\n${account}\\n',
    replace: 'key += `\\n',
    tests: ['test/behaviour/providers/accounts.test.ts'],
  },
  {
    name: 'headers of other accounts do not tell queues apart',
    promise: 5,
    file: 'src/orchestrator/capture/credentials.ts',
    search: ' || info.accountHeaders.includes(name)',
    replace: '',
    tests: ['test/behaviour/providers/accounts.test.ts'],
  },
  {
    name: 'credentials go to origins that nobody has declared',
    promise: 5,
    file: 'src/http/target.ts',
    search: 'if (target.declared) return',
    replace: 'if (target.label) return',
    tests: ['src/http/credentials.test.ts', 'test/behaviour/hooks/redirected-reads.test.ts'],
  },
  {
    name: 'anybody may read the ledger',
    promise: 5,
    file: 'src/ledger/sqlite/connection/store-files.ts',
    search: "'wx', 0o600",
    replace: "'wx', 0o644",
    tests: ['test/behaviour/ledger/secrets.test.ts'],
    only: 'owner only',
  },
];
