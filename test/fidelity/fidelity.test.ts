import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Mode } from './transcript.ts';

type Transcript = Record<string, unknown>;

const program = fileURLToPath(new URL('transcript.ts', import.meta.url));
const loader = import.meta.resolve('tsx');
/** Another version of Node to run under, beside the one that runs the tests. */
const otherNode = process.env.BATCHLING_TEST_NODE;
const nodes = [process.execPath, ...(otherNode ? [otherNode] : [])];

function transcriptOf(node: string, mode: Mode): Promise<Transcript> {
  const child = spawn(node, ['--import', loader, program, mode], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (text: Buffer) => {
    stdout += text;
  });
  child.stderr.on('data', (text: Buffer) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0 && stderr === '') resolve(JSON.parse(stdout) as Transcript);
      else reject(new Error(`${mode} ended with ${code}: ${stderr}`));
    });
  });
}

describe.each(nodes)('under %s', (node) => {
  let absent: Transcript;
  let others: Record<Exclude<Mode, 'absent'>, Transcript>;

  beforeAll(async () => {
    absent = await transcriptOf(node, 'absent');
    others = {
      outside: await transcriptOf(node, 'outside'),
      inside: await transcriptOf(node, 'inside'),
      'let-out': await transcriptOf(node, 'let-out'),
    };
  });

  it('every step is compared', () => {
    const names = Object.keys(absent);
    expect(names.length).toBeGreaterThan(25);
    expect(Object.keys(others.outside)).toEqual(names);
    expect(Object.keys(others.inside)).toEqual(names);
  });

  it('clients see the same outside of all scopes', () => {
    expect(others.outside).toEqual(absent);
  });

  it('clients see the same inside a scope that does not want their requests', () => {
    expect(others.inside).toEqual(absent);
  });

  it('clients see the same when a scope looks at their requests and lets them out', () => {
    const { held, ...transcript } = others['let-out'];
    expect(held).toBeGreaterThan(20);
    // What is held has been taken in, and so is finished, before anybody is asked to listen.
    const events = ['socket', 'finish', 'error', 'close'];
    expect(transcript['nobody listens']).toMatchObject({ events });
    const names = Object.keys(transcript).filter((name) => name !== 'nobody listens');
    for (const name of names) expect(transcript[name], name).toEqual(absent[name]);
  });
});
