import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunOutcome } from '../../src/report/run/run-totals.ts';
import type { RunChild } from '../support/programs/launched/run-child.ts';
import type { RunParent } from '../support/programs/launched/run-parent.ts';
import { openStage, type Stage } from '../support/stage.ts';
import type { Shown } from '../support/terminal/emulated-terminal.ts';
import { type RunningInTerminal, runInTerminal } from '../support/terminal/run-in-terminal.ts';
import { until } from '../support/until.ts';

let stage: Stage;
let files = 0;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const child = (given: Partial<RunChild> = {}): RunChild => ({
  baseURL: stage.simulator.baseUrl('openai'),
  calls: 30,
  ...given,
});

/** A child that writes once the first lines of ours are there. */
const printing = (prints: readonly string[], given: Partial<RunChild> = {}) =>
  child({ prints, go: newFile(), ...given });

const newFile = () => {
  files += 1;
  return join(stage.folder, `file-${files}`);
};

function parent(children: readonly RunChild[], given: Partial<RunParent> = {}): RunParent {
  const hosts = Object.entries(stage.hosts).map(([base, provider]) => `${base}=${provider}`);
  const store = stage.newStore();
  const environment = {
    BATCHLING_HOSTS: hosts.join(),
    BATCHLING_STORE: store,
    // The command line says so to all processes: by itself, only the one that makes the file knows.
    BATCHLING_NEW_STORE: store,
    BATCHLING_WINDOW: '100ms',
    BATCHLING_POLL: '10ms',
  };
  return { children, environment, outcome: newFile(), ...given };
}

interface Terminal {
  readonly columns?: number;
  readonly rows?: number;
  readonly environment?: Record<string, string>;
}

const start = (job: RunParent, { columns = 80, rows = 24, environment = {} }: Terminal = {}) =>
  runInTerminal('launched/run-parent', job, columns, environment, '', rows);

/** A run whose batches are under way until the test lets them go on. */
async function held(job: RunParent, terminal: Terminal = {}): Promise<RunningInTerminal> {
  stage.simulator.hold();
  const run = await start(job, terminal);
  await shows(
    run,
    ({ screen }) =>
      screen.some((line) => /30 +(running|~\d)/.test(line)) &&
      screen.some((line) => line.includes('first use:')),
  );
  for (const { go } of job.children) if (go !== undefined) writeFileSync(go, '');
  return run;
}

async function shows(run: RunningInTerminal, test: (shown: Shown) => boolean): Promise<Shown> {
  let seen: Shown | undefined;
  let isLooking = false;
  let looked = -1;
  const look = async () => {
    looked = run.written().length;
    const shown = await run.shown();
    if (test(shown)) seen = shown;
    isLooking = false;
  };
  try {
    await until(() => {
      if (seen === undefined && !isLooking && looked !== run.written().length) {
        isLooking = true;
        void look();
      }
      return seen !== undefined;
    }, 'the terminal to show it');
  } catch (error) {
    throw new Error(`The terminal shows:\n${(await run.shown()).text.join('\n')}`, {
      cause: error,
    });
  }
  return seen as Shown;
}

async function finish(run: RunningInTerminal): Promise<Shown & { code: number | null }> {
  stage.simulator.release();
  const { code } = await run.ended;
  return { ...(await run.shown()), code };
}

const outcomeOf = (job: RunParent) =>
  JSON.parse(readFileSync(job.outcome as string, 'utf8')) as RunOutcome;

/** Lines of the program, which are not ours. */
const own = ({ text }: Shown) =>
  text
    .map((line) => line.trimEnd())
    .filter((line) => line !== '' && !/^batchling: |^ {2}/.test(line));
const isBlock = (line: string) => /\d+ of +\d+ done|[█▒·]{8}/.test(line);

const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}\n`);
const trimmed = (line: string) => line.trimEnd();

it.each([
  { columns: 80, byShell: false, environment: {} },
  { columns: 60, byShell: true, environment: { NO_COLOR: '1' } },
])('shows the queues in its last rows, apart from the program: %j', async (given) => {
  const { columns, byShell, environment } = given;
  const prints = ['first\n', 'a ', 'half ', 'line', ', ended\n', ...lines(40), 'last\n'];
  const job = parent([printing(prints, { byShell })]);
  const run = await held(job, { columns, environment });
  // The terminal may have a part of what was written at once.
  const during = await shows(
    run,
    ({ screen }) => screen.includes('last') && screen.slice(-2).every(isBlock),
  );
  expect(during.screen.slice(-2)).toEqual([
    expect.stringMatching(/^batchling: 0 of 30 done, \d+s$/),
    expect.stringMatching(/^ {2}openai gpt-5-mini +▒{8,} +0( of |\/)30 +running \d+s$/),
  ]);
  // At the end only lines that stay are left.
  const after = await finish(run);
  expect(after.code).toBe(0);
  expect(after.scrolls).toBe(1);
  expect(after.text.filter(isBlock)).toEqual([]);
  expect(own(after)).toEqual(['first', 'a half line, ended', ...lines(40).map(trimmed), 'last']);
  const text = after.text.join('\n');
  expect(text).toMatch(
    /batchling: saved \$0\.\d+ \(50%\), paid \$0\.\d+\nbatchling: done in \d+s: 30 calls answered\n/,
  );
  expect(run.written().includes('\u001b[36m')).toBe(!('NO_COLOR' in environment));
  expect(outcomeOf(job).stats).toMatchObject({ answered: 30, batches: { submitted: 1 } });
});

it('follows the size of the terminal, and lets go of one that is very low', async () => {
  const run = await held(parent([printing(['one\n', 'two\n'])]));
  await shows(run, ({ screen }) => screen.includes('two'));
  for (const size of [
    { columns: 70, rows: 30 },
    { columns: 100, rows: 12 },
    { columns: 64, rows: 20 },
  ]) {
    run.resize(size);
    const shown = await shows(run, ({ screen }) => screen.slice(-2).every(isBlock));
    expect(shown.screen).toHaveLength(size.rows);
    expect(shown.screen.filter(isBlock)).toHaveLength(2);
    expect(own(shown)).toEqual(['one', 'two']);
  }
  run.resize({ columns: 64, rows: 6 });
  const low = await shows(run, ({ screen }) => !screen.some(isBlock));
  expect(low.scrolls).toBe(1);
  expect(own(await finish(run))).toEqual(['one', 'two']);
});

it('comes back on a cleared screen, and does not touch a line that is not ended', async () => {
  const run = await held(parent([printing(['before\n', '\u001b[H\u001b[2J', 'after\n', '?'])]));
  const shown = await shows(
    run,
    ({ screen }) => screen[0] === 'after' && screen[1] === '?' && screen.slice(-2).every(isBlock),
  );
  expect(shown.screen.filter(isBlock)).toHaveLength(2);
  const after = await finish(run);
  const at = after.text.findIndex((line) => line.trimEnd() === '?');
  expect(at).toBeGreaterThan(0);
  expect(after.text[at + 1]).toMatch(/^batchling: collected/);
  expect(own(after)).toEqual(['after', '?']);
});

it('is one display for all processes of a run, and hears all of one that exits at once', async () => {
  const exits = child({ ends: 'exit-when-answered' });
  const job = parent([exits, child({ model: 'gpt-5', calls: 20 })]);
  const run = await held(job);
  const during = await shows(run, ({ screen }) =>
    screen.some((line) => /gpt-5 .* 20 +running/.test(line)),
  );
  expect(during.screen.at(-3)).toMatch(/^batchling: 0 of 50 done/);
  const after = await finish(run);
  expect(after.code).toBe(6);
  expect(after.text.join('\n')).toMatch(/: 50 calls answered\nbatchling: +batches +2\n/);
  expect(after.text.filter((line) => line.includes('a batch takes minutes'))).toHaveLength(1);
  expect(outcomeOf(job).stats).toMatchObject({ captured: 50, answered: 50 });
});

it('drops what a killed process has left', async () => {
  const dies = parent([child({ ends: 'die' }), child({ model: 'gpt-5', calls: 20 })]);
  stage.simulator.hold();
  const run = await start(dies);
  const alone = await shows(run, ({ screen }) =>
    screen.some((line) => /gpt-5 .*running/.test(line)),
  );
  await shows(run, ({ screen }) => !/gpt-5-mini .*running/.test(screen.join('\n')));
  expect(alone.screen.join('\n')).toMatch(/batchling: 0 of (20|50) done/);
  const after = await finish(run);
  expect(after.code).toBe(128);
  expect(outcomeOf(dies).stats).toMatchObject({ answered: 20 });
});

describe('a parent that ends', () => {
  it.each(['throw', 'SIGTERM', 'SIGKILL'] as const)(
    'by %s does not stop the program, and leaves the terminal as it was',
    async (end) => {
      const answered = newFile();
      const job = parent([child({ answered })], end === 'throw' ? { end } : {});
      const run = await held(job);
      const pid = Number(readFileSync(`${job.outcome}.pid`, 'utf8'));
      process.kill(pid, end === 'throw' ? 'SIGUSR2' : end);
      if (end !== 'SIGKILL') {
        const tidy = await shows(
          run,
          ({ screen, scrolls }) => scrolls === 1 && !screen.some(isBlock),
        );
        expect(tidy.scrolls).toBe(1);
      }
      stage.simulator.release();
      await until(() => existsSync(answered), 'the answers');
      await run.ended;
    },
  );
});
