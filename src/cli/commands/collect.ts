import type { Command } from 'commander';
import type { Ledger } from '../../ledger/ledger.ts';
import { optionFlags } from '../../options/flags.ts';
import type { ResolvedOptions } from '../../options/index.ts';
import type { OptionName } from '../../options/types.ts';
import type { BatchlingEvents, Emit, Notice } from '../../orchestrator/events/events.ts';
import { collectCommand } from '../../report/text/collect-command.ts';
import { slowLine } from '../../report/text/event-lines.ts';
import { counted, number } from '../../report/text/summary.ts';
import { doneSummary } from '../done/done-summary.ts';
import { onDoneFlag, runOnDone } from '../done/on-done.ts';
import { exitCodes } from '../exit-codes.ts';
import { interruptible } from '../interruptible.ts';
import { addOptionFlags, useOptionFlags, withSwitchValues } from '../option-flags.ts';
import { batchJson } from '../print/batch-json.ts';
import { type Looked, outcomeLine } from '../print/outcome-line.ts';
import { note, print, printJson } from '../print/output.ts';
import { Collecting } from '../store/collecting.ts';
import { readCredentialFlags } from '../store/find-credential.ts';
import { addLedgerFlags, credentialFlag } from '../store/ledger-flags.ts';
import { type LedgerFlags, optionsFor, requireLedger } from '../store/open-store.ts';
import { Reachable } from '../store/reachable.ts';

interface CollectFlags extends LedgerFlags {
  readonly watch?: boolean;
  readonly credential?: readonly string[];
  readonly onDone?: string;
  readonly poll?: string;
  readonly keep?: string;
  readonly cleanup?: string;
  readonly webhook?: string;
}

/** Options of `batchify` that mean something where nothing is sent. */
const applies: ReadonlySet<OptionName> = new Set(['poll', 'keep', 'cleanup', 'webhook']);
const collectFlags = optionFlags.filter(({ option }) => applies.has(option));

export function define(command: Command): void {
  addLedgerFlags(command)
    .option('--watch', 'go on until no batch is open')
    .addOption(credentialFlag())
    .addOption(onDoneFlag('when the last open batch is collected, or cannot be'));
  addOptionFlags(command, collectFlags);
  command.addHelpText('after', examples).action(collect);
}

export function prepare(given: readonly string[]): string[] {
  return withSwitchValues(given, collectFlags);
}

const examples = `
Answers are stored in the ledger: running the program again gets them from there,
and nothing is sent or paid twice. Exit code 0: no batch is open any more; 75: some
are, so collect again later; 1: there is no ledger, or a batch cannot be read with the
keys that are set.

Examples:
  $ batchling collect                              look at each open batch once
  $ batchling collect --watch                      wait until all have ended
  $ batchling collect --credential openai=TEAM_KEY the key is in the variable TEAM_KEY`;

async function collect(flags: CollectFlags): Promise<void> {
  const named = readCredentialFlags(flags.credential);
  useOptionFlags({ ...flags }, collectFlags, false);
  const options = await optionsFor(flags);
  const ledger = await requireLedger(options);
  const reachable = new Reachable(ledger, options, named);
  await interruptible(async (stopped) => {
    process.exitCode = await work(ledger, options, reachable, flags, stopped);
  });
}

/** The exit code. */
async function work(
  ledger: Ledger,
  options: ResolvedOptions,
  reachable: Reachable,
  flags: CollectFlags,
  stopped: AbortSignal,
): Promise<number> {
  const began = performance.now();
  let isGivenUp = false;
  const ended = new Set<string>();
  /** The number of requests that ended without an answer, by batch. */
  const unanswered = new Map<string, number>();
  const onLooked = async (looked: Looked) => {
    const { batch, trouble } = looked;
    isGivenUp ||= trouble !== undefined;
    unanswered.set(batch.token, batch.count - batch.answered);
    if (batch.endedAt !== undefined) ended.add(batch.token);
    if (!flags.json) await print(outcomeLine(looked));
    else await printJson({ ...batchJson(batch, undefined), ...(trouble && { trouble }) });
  };
  const refusals = new Set<string>();
  const emit: Emit = (name, event) => {
    if (name === 'batch:slow') note(slowLine(event as BatchlingEvents['batch:slow']));
    if (name !== 'notice') return;
    const notice = event as Notice;
    if (notice.notice !== 'trouble' && notice.notice !== 'over') return;
    if (notice.notice === 'over') refusals.delete(notice.id);
    else if (notice.kind === 'denied') refusals.add(notice.id);
    if (notice.text) note(notice.text);
  };
  const collecting = await Collecting.open({ ledger, options, reachable, onLooked, emit });
  let left = 0;
  let lost = 0;
  try {
    await orStopped(flags.watch ? collecting.untilDone(stopped) : collecting.round(), stopped);
    left = (await ledger.unfinished()).length;
    lost = [...unanswered.values()].reduce((sum, count) => sum + count, 0);
    await tellWhatIsLeft(ledger, reachable, { left, lost }, flags);
  } finally {
    await collecting.close();
  }
  if (stopped.aborted) return exitCodes.interrupted;
  // A script that collects until the exit code is 0 would never end if no key can read a batch.
  const isStuck = isGivenUp || refusals.size > 0 || reachable.obstacles().length > 0;
  const standing = left === 0 ? exitCodes.fine : exitCodes.detached;
  const exitCode = isStuck ? exitCodes.failed : standing;
  // A collect that is called every few minutes is done once: by the call that finds the last batch ended.
  if (isStuck || (left === 0 && ended.size > 0)) {
    const collected = { batches: ended.size, unanswered: lost };
    const milliseconds = Math.round(performance.now() - began);
    const said =
      `${counted(ended.size, 'batch', 'batches')} collected` +
      (lost > 0 ? `, ${counted(lost, 'request')} without an answer` : '') +
      (left > 0 ? `, ${number(left)} still open` : '');
    const facts = { command: 'collect', exitCode, milliseconds, collected } as const;
    await runOnDone(flags.onDone, doneSummary(facts, undefined, said), flags);
  }
  return exitCode;
}

async function orStopped(work: Promise<void>, stopped: AbortSignal): Promise<void> {
  const stop = new Promise<void>((resolve) => {
    if (stopped.aborted) resolve();
    stopped.addEventListener('abort', () => resolve(), { once: true });
  });
  await Promise.race([work, stop]);
}

async function tellWhatIsLeft(
  ledger: Ledger,
  reachable: Reachable,
  { left, lost }: { readonly left: number; readonly lost: number },
  { json, store }: CollectFlags,
): Promise<void> {
  const obstacles = reachable.obstacles();
  if (json) {
    await printJson({ open: left, obstacles });
    return;
  }
  for (const obstacle of obstacles) await print(obstacle);
  if (left === 0) {
    const then =
      lost === 0
        ? 'Running a program again gets its answers from the ledger.'
        : `${counted(lost, 'request')} ended without an answer: running the program again sends and pays for them.`;
    await print(`No batch is open. ${then}`);
    return;
  }
  const owned = (await ledger.unfinished()).filter(
    ({ owner }) => owner && owner.pid !== process.pid,
  );
  // An owner that lives by a lease may have ended without its being known yet.
  const running =
    ledger.ownerLease === undefined ? 'are running' : 'are running or have just ended';
  const others = owned.length > 0 ? ` (${owned.length} of them in programs that ${running})` : '';
  await print(
    `${counted(left, 'batch is', 'batches are')} open${others}: run ${collectCommand(store)} ` +
      `again later, or ${collectCommand(store, ' --watch')}.`,
  );
}
