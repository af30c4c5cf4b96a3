import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openStage, type Stage } from '../support/stage.ts';
import { jsonLines, mapBench } from './map-bench.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({
    answer: ({ provider, prompt, model, body, endpoint }) => {
      if (endpoint.endsWith('/embeddings')) return undefined;
      if (body.response_format !== undefined && provider !== 'mistral') return undefined;
      return provider === 'mistral' ? reasoned(model, prompt) : `<${prompt}>`;
    },
  });
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

/** An answer of a model that tells its thoughts. */
function reasoned(model: string, prompt: string): Record<string, unknown> {
  const content = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'Well …' }] },
    { type: 'text', text: prompt.startsWith('{') ? prompt : `<${prompt}>` },
  ];
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const message = { role: 'assistant', content };
  return { object: 'chat.completion', model, usage, choices: [{ index: 0, message }] };
}

const model = ['--model', 'openai/gpt-5-mini'];

describe('values of a row', () => {
  const nested = '{"2":9007199254740993123,"1":[1.0]}';

  it('that are lists and objects stand in a prompt as they are written', async () => {
    const bench = await mapBench(stage, {
      'in.jsonl': `{"facts":${nested},"is":true,"no":null}\n`,
    });
    const given = ['in.jsonl', '-o', 'out.csv', ...model, '--prompt', '{{facts}} {{is}} {{no}}.'];
    expect(await bench.map(...given)).toMatchObject({ code: 0 });
    const [sent] = stage.simulator.meter.executions;
    expect(sent?.body).toMatchObject({ messages: [{ content: `${nested} true .` }] });
    const quoted = `"${nested.replaceAll('"', '""')}"`;
    const answer = `"<${nested.replaceAll('"', '""')} true .>"`;
    expect(await bench.read('out.csv')).toBe(`facts,is,no,answer\n${quoted},true,,${answer}\n`);
  });

  it('do not go into a schema', async () => {
    const schema = {
      type: 'object',
      properties: { name: { type: 'string', description: 'Such as {{first}} {{text}}' } },
      required: ['name'],
      additionalProperties: false,
    };
    const bench = await mapBench(stage, {
      'in.jsonl': jsonLines([{ text: 'a' }]),
      'schema.json': JSON.stringify(schema),
    });
    const given = [...model, '--prompt', 'Say {{text}}', '--schema', 'schema.json'];
    expect(await bench.map('in.jsonl', '-o', 'out.jsonl', ...given)).toMatchObject({ code: 0 });
    const [sent] = stage.simulator.meter.executions;
    expect(sent?.body).toMatchObject({
      messages: [{ content: 'Say a' }],
      response_format: { json_schema: { schema } },
    });
  });
});

it.each([
  ['--system', 'Be brief.'],
  ['--max-tokens', '5'],
  ['--schema', 'schema.json'],
])('%s is refused where the answers are vectors', async (...flag) => {
  const files = { 'in.jsonl': jsonLines([{ text: 'a' }]), 'schema.json': '{"type":"object"}' };
  const bench = await mapBench(stage, files);
  const given = ['--model', 'openai/text-embedding-3-small', '--url', '/v1/embeddings'];
  const asked = ['in.jsonl', '-o', 'out.jsonl', ...given, '--prompt', '{{text}}', ...flag];
  expect(await bench.map(...asked)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`${flag[0]} does nothing at /v1/embeddings`),
  });
  expect(stage.simulator.meter.total).toBe(0);
});

it('thoughts are left out of an answer, whatever its base URL looks like', async () => {
  const bench = await mapBench(stage, {
    'in.jsonl': jsonLines([{ text: '{"a":1}' }]),
    'schema.json': '{"type":"object"}',
  });
  const base = stage.simulator.baseUrl('mistral');
  const given = ['--model', 'mistral/magistral-small-latest', '--prompt', '{{text}}'];
  for (const [output, flags, answer] of [
    ['plain.jsonl', ['--to', base], '{"a":1}'],
    ['schema.jsonl', ['--to', `${base}/v1`, '--schema', 'schema.json'], { a: 1 }],
  ] as const) {
    const run = await bench.with(
      { environment: { MISTRAL_API_KEY: 'ms-test' } },
      ...['in.jsonl', '-o', output, ...given, ...flags],
    );
    expect(run).toMatchObject({ code: 0 });
    expect(await bench.lines(output)).toEqual([{ text: '{"a":1}', answer }]);
  }
});

it('several answers to a row are a list: all of them are paid for', async () => {
  const bench = await mapBench(stage, {
    'in.jsonl': jsonLines([{ text: 'a' }]),
    'two.json': '{"model":"text-embedding-3-small","input":["{{text}}","b"]}',
    'one.json': '{"model":"text-embedding-3-small","input":["{{text}}"]}',
  });
  const vector = expect.arrayContaining([expect.any(Number)]);
  for (const [body, answer] of [
    ['two', [vector, vector]],
    ['one', vector],
  ] as const) {
    const given = ['in.jsonl', '-o', body, '--body', `${body}.json`, '--url', '/v1/embeddings'];
    expect(await bench.map(...given)).toMatchObject({ code: 0 });
    expect(await bench.lines(body)).toEqual([{ text: 'a', answer }]);
  }
});

it('a file is compressed whatever the letters of its name', async () => {
  const bench = await mapBench(stage, { 'IN.JSONL.GZ': gzipSync(jsonLines([{ text: 'a' }])) });
  const given = ['IN.JSONL.GZ', '-o', 'OUT.JSONL.GZ', ...model, '--prompt', '{{text}}'];
  expect(await bench.map(...given)).toMatchObject({ code: 0 });
  const packed = await readFile(join(bench.folder, 'OUT.JSONL.GZ'));
  expect(gunzipSync(packed).toString()).toBe('{"text":"a","answer":"<a>"}\n');
});
