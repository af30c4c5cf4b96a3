import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { compiledModule } from '../support/processes/compiled.ts';

interface Seen {
  readonly name: string;
  readonly differs?: string;
  readonly saw: string;
}

/** Other versions of Node may name their frames and globals differently; the page is made on this one. */
const pageIsMadeOn = process.versions.node.startsWith('20.');

async function probe(...imported: string[]): Promise<Seen[]> {
  const { BATCHLING_RUN: _, ...env } = process.env;
  const program = await compiledModule('test/fidelity/probes/run');
  const parameters = [...imported.flatMap((module) => ['--import', module]), program];
  const { stdout } = await promisify(execFile)(process.execPath, parameters, { env });
  return JSON.parse(stdout) as Seen[];
}

describe('a program whose calls are not captured', () => {
  let plain: Seen[];
  let empty: Seen[];
  let ours: Seen[];

  beforeAll(async () => {
    const register = await compiledModule('src/register');
    [plain, empty, ours] = await Promise.all([
      probe(),
      probe('data:text/javascript,'),
      probe(register),
    ]);
  });

  it('sees the same as beside an empty --import', () => {
    expect(plain.length).toBeGreaterThan(20);
    expect(empty).toEqual(plain);
  });

  it('sees the same beside batchling/register, apart from what is said to differ', () => {
    const alike = (seen: Seen[]) => seen.filter(({ differs }) => differs === undefined);
    expect(alike(ours)).toEqual(alike(plain));
    expect(plain.filter(({ differs }) => differs).length).toBe(2);
  });

  it.runIf(pageIsMadeOn)('is what docs/probes.md shows', async () => {
    await expect(pageOf(plain, empty, ours)).toMatchFileSnapshot('../../docs/probes.md');
  });
});

describe('under --permission', () => {
  const [major = 0] = process.versions.node.split('.').map(Number);
  const permission = major < 24 ? '--experimental-permission' : '--permission';

  it.each(['false', 'true'])('a refused read ends no process (dry run: %s)', async (dryRun) => {
    const register = await compiledModule('src/register');
    const program = await compiledModule('test/support/programs/loading/refused-read');
    const readable = fileURLToPath(new URL('../../node_modules/', import.meta.url));
    const flags = [permission, '--no-warnings', `--allow-fs-read=${readable}`];
    const env = { ...process.env, BATCHLING_DRY_RUN: dryRun, BATCHLING_RUN: '' };
    const parameters = [...flags, '--import', register, program];
    const { stdout } = await promisify(execFile)(process.execPath, parameters, { env });
    expect(stdout).toBe('500 batchling_store\n');
  });
});

function pageOf(plain: Seen[], empty: Seen[], ours: Seen[]): string {
  const rows = plain.map(({ name, saw, differs }, index) => {
    const cell = (seen: Seen[]) => (seen[index]?.saw === saw ? 'the same' : code(seen[index]?.saw));
    const why = differs === undefined ? '' : ` (${differs})`;
    return `| ${name}${why} | ${code(saw)} | ${cell(empty)} | ${cell(ours)} |`;
  });
  return `${intro}\n${rows.join('\n')}\n`;
}

function code(saw = ''): string {
  const text = saw.length > 90 ? `${saw.slice(0, 87)}…` : saw;
  return `\`${text.replaceAll('|', '\\|')}\``;
}

const intro = `# What a program sees whose calls are not captured

\`test/fidelity/probes\` holds small programs that look for traces of batchling. Each runs in three processes: a plain one, one
with an empty \`--import\`, and one with \`--import batchling/register\`. The requests go to a server that nobody has named, and have
the path of an LLM call (\`/channels/1/messages\`). This page is made by \`test/fidelity/probes.test.ts\`.

| the program | plain | empty \`--import\` | \`batchling/register\` |
| --- | --- | --- | --- |`;
