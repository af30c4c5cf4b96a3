import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openStage, type Stage } from '../support/stage.ts';
import { mapBench, openaiLine } from './map-bench.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const good = openaiLine('a', 'fine');
const rows = ['--model', 'openai/gpt-5-mini', '--prompt', 'Say {{text}}'];

interface Case {
  readonly what: string;
  readonly input: string | Buffer;
  readonly name?: string;
  readonly flags?: readonly string[];
}

const cases: readonly Case[] = [
  { what: 'a line that is not JSON', input: `${good}\n{"custom_id":\n` },
  { what: 'a line that is no object', input: `${good}\n1\n` },
  {
    what: 'a list in one line',
    input: '[{"text":"x"},{"text":"y"}]',
    name: 'in.json',
    flags: rows,
  },
  {
    what: 'a list over several lines',
    input: '[\n  {"text":"x"},\n  {"text":"y"}\n]\n',
    name: 'in.json',
    flags: rows,
  },
  {
    what: 'a line that is not in UTF-8',
    input: Buffer.from(`${good}\n${openaiLine('b', 'déjà')}\n`, 'latin1'),
  },
  { what: 'a file in UTF-16', input: Buffer.from(`\uFEFF${good}\n`, 'utf16le') },
  { what: 'no `custom_id`', input: `${good}\n{"url":"/v1/chat/completions","body":{}}\n` },
  { what: 'an id that is no text', input: `${good}\n{"custom_id":5,"body":{}}\n` },
  { what: 'a doubled id', input: `${good}\n\n${openaiLine('a', 'another')}\n` },
  { what: 'no `body`', input: `${good}\n{"custom_id":"b","url":"/v1/chat/completions"}\n` },
  {
    what: 'no model',
    input: `${good}\n{"custom_id":"b","url":"/v1/chat/completions","body":{}}\n`,
  },
  {
    what: 'an endpoint without batches',
    input: `${good}\n{"custom_id":"b","url":"/v1/audio/speech","body":{"model":"m"}}\n`,
  },
  {
    what: 'a method that is not POST',
    input: `${good}\n{"custom_id":"b","method":"GET","url":"/v1/chat/completions","body":{"model":"m"}}\n`,
  },
  { what: 'a missing column', input: '{"text":"x"}\n{"other":"y"}\n', flags: rows },
  { what: 'a broken table', input: 'id,text\n1,"open\n', name: 'in.csv', flags: rows },
  { what: 'a table with a row too short', input: 'id,text\n1,a\n2\n', name: 'in.csv', flags: rows },
  {
    what: 'a table with a row too long',
    input: 'id,text\n1,Great, but late\n',
    name: 'in.csv',
    flags: rows,
  },
  {
    what: 'a table with another delimiter',
    input: 'id;text\n1;a\n',
    name: 'in.csv',
    flags: rows,
  },
  {
    what: 'a table with two columns of one name',
    input: 'text,text\na,b\n',
    name: 'in.csv',
    flags: rows,
  },
  {
    what: 'a table that is not in UTF-8',
    input: Buffer.from('text\né\n', 'latin1'),
    name: 'in.csv',
    flags: rows,
  },
  { what: 'a file that is torn', input: gzipSync(good).subarray(0, -9), name: 'in.jsonl.gz' },
  { what: 'no lines at all', input: '\n' },
  { what: 'rows without a prompt', input: '{"text":"x"}\n' },
  { what: 'another model for lines that name theirs', input: good, flags: rows.slice(0, 2) },
  { what: 'Gemini lines without a model', input: '{"key":"k","request":{"contents":[]}}\n' },
  { what: 'an unknown provider', input: `${good}\n`, flags: ['--to', 'nobody'] },
];

it('is told before anything is sent, as the table in docs/map.md says', async () => {
  const table = ['| input | exit code | told |', '| --- | --- | --- |'];
  for (const { what, input, name = 'in.jsonl', flags = [] } of cases) {
    const bench = await mapBench(stage, { [name]: input });
    const { code, stderr } = await bench.map(name, '-o', 'out.jsonl', ...flags);
    const lines = stderr
      .replace(/^error: /, '')
      .trim()
      .split('\n');
    const told = (lines.find((line) => line.startsWith('  ')) ?? lines[0] ?? '').trim();
    table.push(`| ${what} | ${code} | ${told.replace(/\|/g, '\\|')} |`);
  }
  expect(stage.simulator.meter.total).toBe(0);
  const page = await readFile(fileURLToPath(new URL('../../docs/map.md', import.meta.url)), 'utf8');
  const [, section = ''] = page.split('\n## Wrong input\n');
  const shown = /(?:^\|.*\n)+/m.exec(section)?.[0].trim().split('\n');
  expect(shown).toEqual(table);
});

describe('a file that a flag names', () => {
  const row = { 'in.jsonl': '{"text":"x"}\n' };
  const model = ['in.jsonl', '-o', 'out.jsonl', '--model', 'openai/gpt-5-mini'];

  it.each([
    ['--schema', 'none.json', "--schema: ENOENT: no such file or directory, open 'none.json'"],
    ['--body', 'list.json', '--body: list.json does not hold a JSON object'],
    ['--prompt-file', 'old.txt', '--prompt-file: old.txt is not text in UTF-8'],
  ])('is told once if it is of no use: %s %s', async (flag, name, told) => {
    const files = { 'list.json': '[1]', 'old.txt': Buffer.from('Résumé: {{text}}', 'utf16le') };
    const bench = await mapBench(stage, { ...row, ...files });
    const { code, stderr } = await bench.map(...model, flag, name);
    expect(code).toBe(2);
    expect(stderr.match(/^error: .*/gm)).toEqual([expect.stringContaining(`error: ${told}`)]);
    expect(stage.simulator.meter.total).toBe(0);
  });

  it('may begin with a byte order mark', async () => {
    const bench = await mapBench(stage, { ...row, 'prompt.txt': '\uFEFFSum up: {{text}}' });
    expect(await bench.map(...model, '--prompt-file', 'prompt.txt')).toMatchObject({ code: 0 });
    const [sent] = stage.simulator.meter.executions;
    expect(sent?.body).toMatchObject({ messages: [{ content: 'Sum up: x' }] });
  });
});

it.runIf(process.platform === 'linux')(
  'is an output where nothing can be made, as in /proc, whoever asks',
  async () => {
    const bench = await mapBench(stage, { 'in.jsonl': good });
    const run = await bench.start('in.jsonl', '-o', '/proc/self/fd/out.jsonl');
    const kill = setTimeout(() => run.process.kill('SIGKILL'), 20_000);
    const { code, stderr } = await run.ended;
    clearTimeout(kill);
    expect(code).toBe(2);
    expect(stderr).toContain('The output cannot be written: ');
    expect(stage.simulator.meter.total).toBe(0);
  },
);

it('is told where it stands, also if the same id stands in another file', async () => {
  const files = { 'one.jsonl': `\n${good}\n`, 'two.jsonl': `${openaiLine('b', 'b')}\n\n${good}\n` };
  const bench = await mapBench(stage, files);
  const { code, stderr } = await bench.map('one.jsonl', 'two.jsonl', '-o', 'out.jsonl');
  expect(code).toBe(2);
  expect(stderr).toContain('two.jsonl, line 3: it has the id of one.jsonl, line 2');
});

it('of a table with --skip-bad is one row; cells beyond the header that are empty are none', async () => {
  const bench = await mapBench(stage, { 'in.csv': 'id,text\n1,Great, but late\n2,b,\n3\n' });
  const given = ['in.csv', '-o', 'out.jsonl', ...rows, '--skip-bad'];
  expect(await bench.map(...given)).toMatchObject({ code: 1 });
  expect(await bench.lines('out.jsonl')).toMatchObject([{ id: '2', text: 'b' }]);
  expect(await bench.lines('out.jsonl.errors.jsonl')).toMatchObject([
    { line: 1, error: expect.stringContaining('it has 3 cells, and the header has 2') },
    { line: 3, error: 'it has no column "text", only "id"' },
  ]);
});

it('is one line in another encoding among many with letters of several bytes', async () => {
  const texts = Array.from({ length: 3_000 }, (_, at) => `${'é'.repeat(at % 150)} 世界 ${at}`);
  const lines = texts.map((text, at) => Buffer.from(`${openaiLine(`c${at}`, text)}\n`));
  lines[0] = Buffer.from(`${openaiLine('c0', 'déjà')}\n`, 'latin1');
  lines[1_500] = Buffer.from(`${openaiLine('c1500', 'déjà')}\n`, 'latin1');
  const bench = await mapBench(stage, { 'in.jsonl': Buffer.concat(lines) });
  expect(await bench.map('in.jsonl', '-o', 'out.jsonl', '--skip-bad')).toMatchObject({ code: 1 });
  const error = expect.stringContaining('it is not text in UTF-8');
  expect(await bench.lines('out.jsonl.errors.jsonl')).toMatchObject([
    { line: 1, status: null, error },
    { line: 1_501, status: null, error },
  ]);
  const sent = stage.simulator.meter.executions.map(
    ({ body }) => (body as { messages: { content: string }[] }).messages[0]?.content,
  );
  const wanted = texts.filter((_, at) => at % 1_500 !== 0);
  expect(sent.toSorted()).toEqual(wanted.toSorted());
});

it('goes to the errors with --skip-bad, each line in its place', async () => {
  const input = [good, 'nonsense', openaiLine('b', 'fine, too'), openaiLine('a', 'doubled')].join(
    '\n',
  );
  const bench = await mapBench(stage, { 'in.jsonl': input });
  expect(await bench.map('in.jsonl', '-o', 'out.jsonl', '--skip-bad')).toMatchObject({ code: 1 });
  expect((await bench.lines('out.jsonl')).map(({ custom_id: id }) => id)).toEqual(['a', 'b']);
  expect(await bench.lines('out.jsonl.errors.jsonl')).toEqual([
    { line: 2, id: '2', status: null, error: expect.stringContaining('not JSON') },
    { line: 4, id: 'a', status: null, error: 'another line has the id "a", too' },
  ]);
  expect(stage.simulator.meter.total).toBe(2);
});
