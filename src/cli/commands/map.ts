import { setFlagsFromString } from 'node:v8';
import type { Command } from 'commander';
import { shownStore } from '../../base/store-address.ts';
import { mapFile } from '../../map/map-file.ts';
import type { MapRequest } from '../../map/map-request.ts';
import { errorsPath, type MapEnd } from '../../map/run-map.ts';
import { resolveOptions } from '../../options/index.ts';
import type { DryRunSummary } from '../../orchestrator/dry-run/dry-run-summary.ts';
import { dryRunLines } from '../../report/text/dry-run-lines.ts';
import { counted, dollars, paidTwiceText } from '../../report/text/summary.ts';
import { configPath, useConfig } from '../config-path.ts';
import { type DoneSummary, doneSummary } from '../done/done-summary.ts';
import { runOnDone } from '../done/on-done.ts';
import { tellRunDone } from '../done/tell-run-done.ts';
import { exitCodes } from '../exit-codes.ts';
import { interruptible } from '../interruptible.ts';
import { MapDisplay } from '../map/map-display.ts';
import {
  addMapFlags,
  type MapFlags,
  mapOptionFlags,
  prepareMap,
  requestOf,
} from '../map/map-flags.ts';
import { useOptionFlags } from '../option-flags.ts';
import { confirm } from '../print/confirm.ts';
import { isUsageError, usageError } from '../usage-error.ts';

export { prepareMap as prepare };

/** A person is asked once before more than this is spent. */
const surprisingDollars = 10;

const examples = `
The form of the input is seen by its first line, or by its name. The same command again goes
on where it stopped: nothing is paid twice.

Examples:
  $ batchling map requests.jsonl -o answers.jsonl

  OpenAI batch lines {"custom_id","method","url","body"} go to any provider of that family:
  $ batchling map requests.jsonl -o answers.jsonl --to groq

  Anthropic lines {"custom_id","params"}; Gemini lines {"key","request"}:
  $ batchling map messages.jsonl -o answers.jsonl
  $ batchling map gemini.jsonl -o answers.jsonl --model gemini-2.5-flash

  Rows: a table, or any JSON object on a line. The answer is a new column:
  $ batchling map reviews.csv -o rated.jsonl --model openai/gpt-5-mini \\
      --prompt "Is this review positive or negative? {{text}}"
  $ batchling map invoices.jsonl.gz -o fields.jsonl --model anthropic/claude-haiku-4-5 \\
      --prompt-file extract.txt --schema invoice.schema.json
  $ batchling map chunks.jsonl -o vectors.jsonl --to openai --url /v1/embeddings --body body.json

  Before and after:
  $ batchling map reviews.csv … --dry-run              what it would cost
  $ batchling map reviews.csv … -o try.jsonl --sample 20    a few lines at random
  $ batchling map reviews.csv … --retry-errors         only what failed last time

Exit code 0: every line has its answer; 1: some failed (see <output>.errors.jsonl);
2: the input or a flag is wrong, and nothing was sent; 75: --detach, run again for the answers;
130: interrupted, run again to go on.`;

export function define(command: Command): void {
  command
    .usage('[flags] <input...> [-o <output>]')
    .argument('[input...]', 'files of lines or tables, .gz or not; - or none: standard input');
  addMapFlags(command);
  command.addHelpText('after', examples).action(map);
}

async function map(inputs: string[], flags: MapFlags): Promise<void> {
  const path = configPath(typeof flags.config === 'string' ? flags.config : undefined);
  useOptionFlags(flags, mapOptionFlags, path !== undefined);
  await useConfig(path);
  // Most of what a job holds is garbage a moment later. V8 would let it grow to several times what is in use.
  setFlagsFromString('--heap-growing-percent=70');
  const request = requestOf(inputs, flags);
  const { store } = resolveOptions({});
  if (request.detach && store === ':memory:') {
    throw usageError(
      '--detach leaves the answers to the ledger, and one in memory ends with this process: name another --store',
    );
  }
  // Until it has come to its end, whatever ends the process: the reader of standard output, for one.
  process.exitCode = exitCodes.failed;
  const began = performance.now();
  const done: Done = async (exitCode, end) => {
    const summary = mapSummary(request, exitCode, Math.round(performance.now() - began), end);
    await tellRunDone(() => resolveOptions({}), summary);
    const command = typeof flags.onDone === 'string' ? flags.onDone : undefined;
    await runOnDone(command, summary, { json: resolveOptions({}).display === 'json' });
  };
  await interruptible(async (stopped) => {
    process.exitCode = await work(request, stopped, done);
    if (stopped.aborted) endBlockedRead();
  }, new Interrupted());
}

/**
 * Nothing but the system can end a read of a pipe that has a name and no writer: it keeps the process alive, and
 * `process.exit()` waits for it, too.
 */
function endBlockedRead(): void {
  setTimeout(() => process.kill(process.pid, 'SIGINT'), 500).unref();
}

class Interrupted extends Error {}

type Done = (exitCode: number, end: MapEnd | Error) => Promise<void>;

/** The exit code. */
async function work(request: MapRequest, stopped: AbortSignal, done: Done): Promise<number> {
  const { dryRun, display: asked, store, lane } = resolveOptions({});
  const display = new MapDisplay(asked);
  let hasBegun = false;
  const surroundings = {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    stopped,
    tell: (text: string) => display.tell(text),
    began: (...facts: Parameters<MapDisplay['begin']>) => {
      hasBegun = true;
      display.begin(...facts);
    },
    mayBegin: (summary: DryRunSummary, progress: MapEnd['progress']) =>
      mayBegin(summary, progress, display, {
        isDryRun: Boolean(dryRun),
        yes: request.yes,
        stopped,
      }),
  };
  try {
    const end = await mapFile(request, {}, surroundings);
    display.end();
    const exitCode = tellEnd(end, request, display, Boolean(dryRun));
    if (end.is === 'done') await done(exitCode, end);
    return exitCode;
  } catch (error) {
    display.end();
    if (!(error instanceof Interrupted)) {
      if (!isUsageError(error) && error instanceof Error) await done(exitCodes.failed, error);
      throw error;
    }
    const again =
      lane === 'batch' ? 'nothing is paid twice' : 'only calls on the wire may be paid twice';
    display.tell(interruptedNote(request, hasBegun, shownStore(store), again));
    return exitCodes.interrupted;
  }
}

/** `again`: what the same command pays for. */
function interruptedNote(
  { output }: MapRequest,
  hasBegun: boolean,
  store: string,
  again: string,
): string {
  if (!hasBegun) return 'interrupted: this run has sent nothing. The same command starts it again';
  if (store === ':memory:') {
    return 'interrupted. The ledger was in memory: the same command again pays once more for what was under way';
  }
  return output === undefined
    ? `interrupted. Standard output cannot be continued, but what was asked is in the ledger (${store}): with the same command again ${again}`
    : `interrupted: the same command again goes on from here, and ${again}`;
}

function mapSummary(
  { inputs }: MapRequest,
  exitCode: number,
  milliseconds: number,
  end: MapEnd | Error,
): DoneSummary {
  const called = inputs[0] === '-' ? undefined : inputs[0];
  const facts = { command: 'map', exitCode, milliseconds } as const;
  if (end instanceof Error) return doneSummary(facts, called, end.message);
  const { done, failed } = end.progress;
  const { paid, saved } = end.counts;
  const more = { lines: { done, failed }, dollars: { paid, saved } };
  const failures = failed > 0 ? `, ${counted(failed, 'line')} failed` : '';
  const price = paid > 0 ? `, paid ${dollars(paid)}, saved ${dollars(saved)}` : '';
  const said = `${counted(done, 'line')} answered${failures}${price}`;
  return doneSummary({ ...facts, ...more }, called, said);
}

interface MayBeginTerms {
  readonly isDryRun: boolean;
  readonly yes: boolean;
  readonly stopped: AbortSignal;
}

async function mayBegin(
  summary: DryRunSummary,
  { done, failed }: MapEnd['progress'],
  display: MapDisplay,
  { isDryRun, yes, stopped }: MayBeginTerms,
): Promise<boolean> {
  const [head, ...lines] = dryRunLines(summary).filter(
    (line) => !line.startsWith('answers were placeholders'),
  );
  if (display.mode === 'json') display.json('dry-run', summary);
  else display.tell(...(isDryRun ? [head ?? ''] : []), ...lines);
  if (isDryRun) {
    // What is sent already is not known here: nothing is asked of the ledger.
    if (done + failed > 0) display.tell(begunNote(done + failed));
    return false;
  }
  const { most } = summary.dollars.batch;
  const isSurprising = most > surprisingDollars || summary.unpriced.length > 0;
  if (yes || !isSurprising) return true;
  const price =
    summary.unpriced.length > 0 ? 'a price that is not known' : `up to ${dollars(most)}`;
  return confirm(`Send ${counted(summary.calls, 'line')} for ${price}?`, true, stopped);
}

function begunNote(written: number): string {
  return (
    `The job has begun: ${counted(written, 'line')} of it were written before, and are not in these figures. ` +
    'Lines of it that are under way, or answered in the ledger, are: they are not paid again.'
  );
}

function tellEnd(
  end: MapEnd,
  { output }: MapRequest,
  display: MapDisplay,
  isDryRun: boolean,
): number {
  const { progress, counts } = end;
  const { done, failed } = progress;
  if (end.is === 'declined') return isDryRun ? exitCodes.fine : exitCodes.failed;
  display.json('end', { is: end.is, done, failed, paid: counts.paid, saved: counts.saved });
  if (end.is === 'detached') {
    display.tell('everything is sent. Run the same command again for the answers');
    return exitCodes.detached;
  }
  const parts = [`${counted(done, 'line')} answered`];
  if (failed > 0) {
    const where = output === undefined ? '' : ` (${errorsPath(output)})`;
    parts.push(`${counted(failed, 'line')} failed${where}`);
  }
  if (counts.paid > 0) parts.push(`paid ${dollars(counts.paid)}, saved ${dollars(counts.saved)}`);
  else if (done > 0 && counts.sent === 0 && !end.wasDone)
    parts.push('all from the ledger, which cost nothing');
  const twice = paidTwiceText(counts);
  if (twice !== undefined) parts.push(twice);
  const before = end.wasDone ? 'nothing to do, this job is finished: ' : '';
  const advice = [
    ...(end.wasDone ? ['--restart begins anew'] : []),
    ...(failed > 0 && output !== undefined ? ['--retry-errors asks the failed lines again'] : []),
  ];
  const again = advice.length > 0 ? `. ${advice.join(', ')}` : '';
  display.tell(`${before}${parts.join(', ')}${again}`);
  return failed > 0 ? exitCodes.failed : exitCodes.fine;
}
