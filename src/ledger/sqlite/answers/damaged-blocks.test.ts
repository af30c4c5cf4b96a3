import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openBench } from '../../conformance/subject.test-helper.ts';
import type { LedgerOptions } from '../../ledger-options.ts';
import { openReader } from '../../open-contents.ts';
import { openTemporary, query, temporaryFolder } from '../test/temporary.test-helper.ts';

const answers = [1, 2, 3].map((number) => ({
  status: 200,
  headers: { 'content-type': 'application/json', id: `request-${number}` },
  body: `{"text":"the answer to question ${number}"}`,
}));

/** A ledger file with three answers in one block, and how it is opened again. */
async function storeAnswers() {
  const path = join(temporaryFolder(), 'ledger.db');
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  const open = () =>
    openBench({
      name: 'SQLite',
      open: (options?: LedgerOptions) => openTemporary({ ...options, path, warn }),
      kill: { skip: 'not needed' },
    });
  const { ledger, send } = await open();
  const { lease, requests } = await send([1, 2, 3]);
  await ledger.collected(
    lease,
    requests.map((request, index) => ({ request, is: 'answer', answer: answers[index]! })),
  );
  await ledger.ended(lease);
  await ledger.close();
  return { path, open, warnings };
}

/** Changes bytes of the file behind the back of SQLite, as a bad disk does. */
function damage(path: string, from: string, to: string): void {
  const bytes = readFileSync(path);
  const at = bytes.indexOf(from);
  expect(at).toBeGreaterThan(0);
  bytes.write(to, at, 'latin1');
  writeFileSync(path, bytes);
}

describe('a block of answers that the disk has changed', () => {
  it.each([
    ['a body', 'to question 2', 'to question 7'],
    ['a header', 'request-3', 'request-4'],
    ['the headers of all', '"id":"request-1"', '"id":"request-9"'],
    ['the list of requests', '[1,2,3]', '[3,2,1]'],
  ])('counts as missing, with a warning: %s', async (_what, from, to) => {
    const { path, open, warnings } = await storeAnswers();
    damage(path, from, to);
    const { ask, settle } = await open();
    for (const number of [1, 2, 3]) expect(await ask(number)).toMatchObject({ is: 'mine' });
    expect(warnings[0]).toContain(`The ledger ${path} is damaged`);
    await settle(4, answers[0]!);
    expect(await ask(4)).toMatchObject({ is: 'answered', answer: answers[0] });
  });

  it('is not copied to another ledger, with a warning', async () => {
    const { path } = await storeAnswers();
    damage(path, 'to question 2', 'to question 7');
    const warnings: string[] = [];
    const reader = await openReader(path, (message) => void warnings.push(message));
    for await (const requests of reader!.requests()) {
      expect(requests.map(({ answer }) => answer)).toEqual([undefined, undefined, undefined]);
    }
    await reader!.close();
    expect(warnings).toHaveLength(1);
  });
});

it('a block from before there were checksums is served', async () => {
  const { path, open, warnings } = await storeAnswers();
  await query(path, 'UPDATE answer SET crc = NULL');
  const { ask } = await open();
  expect(await ask(2)).toMatchObject({ is: 'answered', answer: answers[1] });
  expect(warnings).toEqual([]);
});

it('a page that SQLite itself cannot read is a clear error', async () => {
  const { path, open } = await storeAnswers();
  const [{ page }] = (await query(
    path,
    "SELECT rootpage AS page FROM sqlite_schema WHERE name = 'answer'",
  )) as [{ page: number }];
  const bytes = readFileSync(path);
  bytes.fill(0xff, (page - 1) * 16_384, (page - 1) * 16_384 + 200);
  writeFileSync(path, bytes);
  const { ask } = await open();
  await expect(ask(2)).rejects.toThrow(`The ledger ${path} cannot be used: it is damaged.`);
});
