import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { compiledModule } from '../support/compiled.ts';

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
