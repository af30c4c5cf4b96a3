import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import type { DoneSummary } from './done-summary.ts';
import { runOnDone } from './on-done.ts';

const folder = mkdtempSync(join(tmpdir(), 'batchling-on-done-'));
const summary: DoneSummary = {
  command: 'run',
  outcome: 'done',
  exitCode: 0,
  milliseconds: 1,
  text: 'two "words" $(touch never) `touch never`',
};

afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

function hearStderr() {
  return vi.spyOn(process.stderr, 'write').mockImplementation(() => true);
}

it('a command that never ends is ended with all that it has started', async () => {
  const said = hearStderr();
  const began = performance.now();
  await runOnDone('sleep 60 & sleep 60', summary, { limit: 50 });
  expect(performance.now() - began).toBeLessThan(30_000);
  expect(said.mock.calls.join()).toContain('took longer than 50ms and was ended');
});

it('nothing that is told becomes a part of the command line', async () => {
  const said = hearStderr();
  const own = mkdtempSync(join(tmpdir(), 'batchling-on-done-'));
  await runOnDone(`cd '${own}' && test "$BATCHLING_DONE_OUTCOME" = done`, summary);
  expect(said.mock.calls).toEqual([]);
  expect(existsSync(join(own, 'never'))).toBe(false);
  rmSync(own, { recursive: true });
});

it('a failure is a line of JSON where lines of JSON are asked for', async () => {
  const said = hearStderr();
  await runOnDone('exit 4', summary, { json: true });
  expect(JSON.parse(String(said.mock.calls[0]?.[0]))).toMatchObject({
    event: 'on-done',
    problem: 'the command ended with exit code 4',
  });
});
