import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';

const script = fileURLToPath(new URL('../../scripts/check-imports.mjs', import.meta.url));
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Checks a source folder that holds these files. */
function check(files: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'batchling-imports-'));
  folders.push(folder);
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const { status, stderr } = spawnSync(process.execPath, [script, folder], { encoding: 'utf8' });
  return { status, stderr };
}

describe('the check of imports', () => {
  it('is content with the source itself', () => {
    const { status, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('is content with arrows that point down or stay', () => {
    const { status, stderr } = check({
      'cli/commands/demo.ts':
        "import { a } from '../../index.ts';\nimport '../../simulator/index.ts';",
      'scope/engine/scope-terms.ts': "import { b } from '../../orchestrator/engine.ts';",
      'scope/engine/engines.ts': "import { openLedger } from '../../ledger/open-ledger.ts';",
      'ledger/open-ledger.ts': "const c = await import('./sqlite/connection/open-sqlite.ts');",
      'ledger/sqlite/connection/open-sqlite.ts': "import { m } from '../../moves.ts';",
      'cli/doctor/versions.ts': "import { d } from '../../ledger/sqlite/connection/driver.ts';",
      'orchestrator/engine.ts':
        "import type { B } from '../batchers/batcher.ts';\nimport { q } from './queue/queue.ts';",
      'orchestrator/capture/intake.ts':
        "import { d } from '../answer/delivery.ts';\nimport { r } from '../model/request.ts';",
      'batchers/registry.ts': "import { O } from './openai/openai-batcher.ts';",
      'batchers/openai/openai-batcher.ts': "import { h } from '../../http/client.ts';",
      'http/client.ts': "import { e } from '../base/errors.ts';\nimport fs from 'node:fs';",
      'orchestrator/engine.test.ts': "import { x } from '../scope/scope.ts';",
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it.each([
    ['batchers to orchestrator', 'batchers/a.ts', '../orchestrator/b.ts'],
    ['http to ledger', 'http/a.ts', '../ledger/ledger.ts'],
    ['ledger to http', 'ledger/a.ts', '../http/client.ts'],
    ['a step to the registry', 'orchestrator/queue/a.ts', '../../batchers/registry.ts'],
    ['a hook to the registry', 'hooks/fetch/a.ts', '../../batchers/registry.ts'],
    ['a command to one batcher', 'cli/commands/a.ts', '../../batchers/openai/openai-batcher.ts'],
    ['one provider to a stranger', 'batchers/groq/a.ts', '../mistral/mistral-batcher.ts'],
    ['orchestrator to scope', 'orchestrator/a.ts', '../scope/scope.ts'],
    ['orchestrator to options', 'orchestrator/a.ts', '../options/table.ts'],
    ['hooks to orchestrator', 'hooks/a.ts', '../orchestrator/b.ts'],
    ['batchers to ledger', 'batchers/a.ts', '../ledger/ledger.ts'],
    ['base to http', 'base/errors.ts', '../http/client.ts'],
    ['orchestrator to one batcher', 'orchestrator/a.ts', '../batchers/openai/openai-batcher.ts'],
    ['orchestrator to one ledger', 'orchestrator/a.ts', '../ledger/sqlite/connection/store.ts'],
    ['scope to one ledger', 'scope/scope.ts', '../ledger/memory/memory-ledger.ts'],
    [
      'the composition root to one ledger',
      'scope/engine/engines.ts',
      '../../ledger/sqlite/store.ts',
    ],
    ['one ledger to another', 'ledger/sqlite/a.ts', '../memory/memory-ledger.ts'],
    ['the interface to one ledger', 'ledger/ledger.ts', './sqlite/connection/store.ts'],
    ['orchestrator to what opens ledgers', 'orchestrator/a.ts', '../ledger/open-ledger.ts'],
    ['the simulator to anything', 'simulator/a.ts', '../base/errors.ts'],
    ['anything to the simulator', 'scope/scope.ts', '../simulator/index.ts'],
    ['the model to a step of the walk', 'orchestrator/model/a.ts', '../queue/queue.ts'],
    ['a step to one before it', 'orchestrator/collect/a.ts', '../submit/submitter.ts'],
    ['a step to the engine', 'orchestrator/watch/a.ts', '../engine.ts'],
    ['out of the source', 'cli/main.ts', '../../package.json'],
  ])('refuses %s', (_what, file, target) => {
    const { status, stderr } = check({ [file]: `// first line\nimport { x } from '${target}';\n` });
    expect(status).toBe(1);
    expect(stderr).toContain(`src/${file}:2 imports`);
  });

  it.each([
    ['a type', "import type { X } from '../scope/scope.ts';"],
    ['an import for its effect', "import '../scope/scope.ts';"],
    ['a late import', "const x = await import('../scope/scope.ts');"],
    ['an export', "export * from '../scope/scope.ts';"],
    ['double quotes', 'import { x } from "../scope/scope.ts";'],
    ['several lines', "import {\n  x,\n} from '../scope/scope.ts';"],
    ['a type in place', "type X = import('../scope/scope.ts').X;"],
  ])('sees an arrow that is written as %s', (_what, text) => {
    expect(check({ 'http/a.ts': text }).status).toBe(1);
  });

  it('refuses a folder that nobody finds anything in', () => {
    const many = Object.fromEntries(
      Array.from({ length: 21 }, (_, n) => [`http/file-${n}.ts`, '']),
    );
    const { status, stderr } = check(many);
    expect(status).toBe(1);
    expect(stderr).toContain('src/http has 21 source files');
  });
});
