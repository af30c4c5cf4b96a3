import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { followPage, named } from './follow-provider-page.ts';

let copy: string;
let written: string[];
beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'batchling-provider-'));
  written = await followPage(copy);
});
afterAll(() => rm(copy, { recursive: true, force: true }));

/** A program of the copy, for which nothing but the name of the provider is new. */
const program = `
import { batchify } from './src/index.ts';
import { startSimulator } from './src/simulator/index.ts';

const simulator = await startSimulator({ answer: ({ prompt }) => '<' + prompt.split(' ').at(-1) + '>' });
const base = simulator.baseUrl('nimbus');
process.env.NIMBUS_API_KEY = 'any';
process.env.NIMBUS_BASE_URL = base;
const options = { hosts: { [base]: 'nimbus' }, only: 'nimbus', store: ':memory:', window: '10ms', display: 'none' };
await batchify(() => import('./examples/providers/nimbus.mjs'), options);
console.log(JSON.stringify(simulator.batches().map(({ provider, requests }) => ({ provider, requests }))));
await simulator.close();
`;

it('a provider that is added by the page is known everywhere, with the files that the page names', async () => {
  expect([...written, 'docs/providers.md'].toSorted()).toEqual(named.toSorted());
  await writeFile(join(copy, 'program.ts'), program);
  const run = (...given: string[]) =>
    promisify(execFile)(process.execPath, ['--import', 'tsx', ...given], { cwd: copy });
  const [{ stdout }, providers] = await Promise.all([
    run('program.ts'),
    run('scripts/providers-doc.ts'),
  ]);
  expect(stdout.trim().split('\n')).toEqual([
    'bridge: <bridge>',
    'river: <river>',
    'harbour: <harbour>',
    '[{"provider":"nimbus","requests":3}]',
  ]);
  expect(providers.stdout).toContain('## <a id="nimbus"></a>Nimbus');
  const before = await readFile(join(copy, 'docs/providers.md'), 'utf8');
  expect(before).not.toContain('Nimbus');
});
