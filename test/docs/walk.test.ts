import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { readPage } from './code-blocks.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

it('docs/architecture.md lists the modules that run for each captured call', () => {
  const page = readPage('docs/architecture.md');
  const [, listed = ''] = /```walk\n(.*?)```/s.exec(page) ?? [];
  const lines = listed.trim().split('\n');
  const named = lines.flatMap((line) => {
    const [folder, ...names] = line.split(/ +/);
    return names.map((name) => `${folder}/${name}.ts`);
  });
  const script = ['--import', 'tsx', 'scripts/walk-of-a-call.ts'];
  const walk = execFileSync(process.execPath, script, { cwd: root, encoding: 'utf8' });
  expect(named.toSorted()).toEqual(walk.trim().split('\n').toSorted());
  expect(page).toContain(`These ${named.length} modules`);
});
