import { describe, expect, it } from 'vitest';
import type { Answer } from '../../base/types.ts';
import type { BadLine, BatchFailure } from '../../batchers/batcher.ts';
import { OpenAIBatcher } from '../../batchers/openai/openai-batcher.ts';
import type { Request } from '../model/request.ts';
import { afterRefusal, type Refusal } from './after-refusal.ts';

const batcher = new OpenAIBatcher();
const theirs: Answer = { status: 429, headers: {}, body: 'theirs' };
const rows = [10, 11, 12, 13, 14];

function bad(...lines: number[]): readonly BadLine[] {
  return lines.map((line) => ({
    line,
    answer: { status: 400, headers: {}, body: `line ${line}` },
  }));
}

/** What becomes of five lines, of which these rows are waited for: groups of rows, or what each of them is told. */
function fate(
  failure: Partial<BatchFailure>,
  { waiting = rows, ...more }: Partial<Refusal> & { waiting?: readonly number[] } = {},
): { again: number[][]; reason: string } | { told: [number, string][] } {
  const requests = waiting.map((row) => ({ row, batcher }) as unknown as Request);
  const refused = { code: 'x', message: 'said', meaning: 'refused', next: 'fail', ...failure };
  const result = afterRefusal({
    failure: refused as BatchFailure,
    lines: rows,
    requests,
    isHopeless: false,
    ledgerError: undefined,
    ...more,
  });
  if ('again' in result) {
    const again = result.again.map((group) => group.map(({ row }) => row));
    return { again, reason: result.reason };
  }
  const told = requests.map((request): [number, string] => {
    const { status, body } = result.answerFor(request);
    return [status, body.includes('said') ? 'said' : body];
  });
  return { told };
}

describe('requests of a refused batch', () => {
  it.each<[string, ReturnType<typeof fate>, ReturnType<typeof fate>]>([
    [
      'for which there was no room go again together',
      fate({ next: 'later' }),
      { again: [rows], reason: 'no room yet: said' },
    ],
    [
      'for which waiting is of no use are told what the provider said',
      fate({ next: 'later', answer: theirs }, { isHopeless: true, waiting: [10] }),
      { told: [[429, 'theirs']] },
    ],
    [
      'that were too many go in halves',
      fate({ next: 'smaller' }),
      {
        again: [
          [10, 11, 12],
          [13, 14],
        ],
        reason: 'sent in halves: said',
      },
    ],
    [
      'of which one is left cannot be halved, and it is told',
      fate({ next: 'smaller', answer: theirs }, { waiting: [12] }),
      { told: [[429, 'theirs']] },
    ],
    [
      'go again apart from lines that are named, whether they count from one or from zero',
      fate({ next: 'isolate', bad: bad(2) }),
      {
        again: [[11], [12], [10, 13, 14]],
        reason: 'sent again, its bad lines by themselves: said',
      },
    ],
    [
      'that nobody waits for are left out, without a shift of the others',
      fate({ next: 'isolate', bad: bad(2) }, { waiting: [11, 14] }),
      { again: [[11], [], [14]], reason: 'sent again, its bad lines by themselves: said' },
    ],
    [
      'are told their own reasons once every line is named',
      fate({ next: 'isolate', bad: bad(1, 2, 3, 4, 5) }, { waiting: [10, 14] }),
      {
        told: [
          [400, 'line 1'],
          [400, 'line 5'],
        ],
      },
    ],
    [
      'whose bad lines are not named are told what the provider said',
      fate({ next: 'isolate', answer: theirs }, { waiting: [10] }),
      { told: [[429, 'theirs']] },
    ],
    [
      'are told an error of ours where the provider has said nothing that a client understands',
      fate({ next: 'fail' }, { waiting: [10] }),
      { told: [[502, 'said']] },
    ],
    [
      'are told what the provider said even if the ledger could not note it',
      fate({ next: 'fail', answer: theirs }, { ledgerError: new Error('full'), waiting: [10] }),
      { told: [[429, 'theirs']] },
    ],
  ])('%s', (_name, result, expected) => {
    expect(result).toEqual(expected);
  });

  it.each(['later', 'smaller', 'isolate'] as const)(
    'do not go again (%s) where the ledger could not note the refusal: it holds them for sent',
    (next) => {
      const result = fate({ next, bad: bad(2) }, { ledgerError: new Error('full') });
      expect(result).toEqual({ told: rows.map(() => [500, expect.stringContaining('full')]) });
    },
  );
});
