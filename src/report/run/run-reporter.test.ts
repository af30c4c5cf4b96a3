import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { addToStats, emptyStats } from '../../orchestrator/model/stats.ts';
import { ReportFile } from './report-file.ts';
import type { RunMessage } from './run-message.ts';
import { RunReporter } from './run-reporter.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'batchling-report-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const call = { provider: 'openai', endpoint: '/v1/chat/completions', model: 'm' };
const batch = { ...call, batch: 'bl_1', count: 1, bytes: 9 };

it('tells of calls before it tells of their batch: what it writes may be read in two parts', async () => {
  const path = join(folder, 'report');
  const file: ReportFile = new ReportFile(path, () => reporter.numbers());
  const reporter = new RunReporter(file, false);
  const stats = emptyStats();
  const scope = reporter.open({ stats, store: 'ledger.db' });
  addToStats(stats, 'call:captured', call);
  scope.event('call:captured', call);
  scope.event('batch:submitting', batch);
  await Promise.resolve();
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  const messages = lines.map((line) => JSON.parse(line) as RunMessage);
  expect(messages).toMatchObject([
    { kind: 'open' },
    { kind: 'counts', stats: { captured: 1 } },
    { kind: 'event', name: 'batch:submitting' },
  ]);
});
