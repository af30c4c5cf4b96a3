import { parseDuration } from '../../src/base/duration.ts';
import type { Execution, Simulator } from '../../src/simulator/index.ts';
import { lastUserText } from '../../src/simulator/world/model/prompt.ts';
import type { AskedCall } from './asked-call.ts';
import { hits, isExplained, seemsWithoutBatches } from './explained.ts';
import type { Theatre } from './theatre.ts';

/** What is wrong after a program has been played; empty when every promise was kept. */
export function verdict(theatre: Theatre, simulator: Simulator): string[] {
  const open = leftOpen(theatre);
  if (open.length > 0) return open;
  const { calls } = theatre;
  const wrong = ownAnswers(calls, simulator);
  wrong.push(...executions(theatre, simulator));
  for (const call of calls.filter(isTooLate)) wrong.push(`outlived its deadline: ${show(call)}`);
  for (const call of calls) {
    if (!isExplained(call, theatre)) wrong.push(`ended without a reason: ${show(call)}`);
  }
  return wrong;
}

/** The same of a program with lanes: an ordinary call may be paid twice, and has more reasons to end. */
export function verdictOnLanes(theatre: Theatre, simulator: Simulator): string[] {
  const open = leftOpen(theatre);
  if (open.length > 0) return open;
  const { calls } = theatre;
  const late = calls.filter(isTooLate).map((call) => `outlived its deadline: ${show(call)}`);
  const bugs = calls.filter(({ ending }) => ending?.kind === 'response' && isBug.test(ending.body));
  return [...ownAnswers(calls, simulator), ...late, ...bugs.map(show)];
}

const isBug = /This is a bug in batchling/;

/** What has not come to its end, and is left behind. */
function leftOpen(theatre: Theatre): string[] {
  const { calls, clock } = theatre;
  const hanging = calls
    .filter(({ ending }) => ending === undefined)
    .map((call) => `hangs after ${clock.steps} clock steps: ${show(call)}`);
  if (hanging.length > 0) return hanging;
  if (!theatre.isOver) return ['every call has ended, but a scope does not close'];
  if (!theatre.isEngineClosed) return ['every scope has closed, but not the engine'];
  return clock.timers > 0 ? [`${clock.timers} timers are left behind`] : [];
}

const isOrdinary = /^(realtime|flex|plain)$/;

/** Each answer quotes its own prompt, and no two callers share an execution. */
function ownAnswers(calls: readonly AskedCall[], { meter }: Simulator): string[] {
  const wrong: string[] = [];
  const owners = new Map<number, AskedCall>();
  const billed = new Map(meter.executions.map((execution) => [execution.n, execution]));
  for (const call of calls) {
    const text = answerOf(call);
    if (text === undefined || isSpoiled(call)) continue;
    const n = Number(/\(execution (\d+)\)/.exec(text)?.[1]);
    if (!text.includes(`answer to \\"${call.prompt}\\" from ${call.model} `)) {
      wrong.push(`has somebody else's answer: ${show(call)}`);
    }
    if (owners.has(n)) wrong.push(`execution ${n} answered two calls: ${show(call)}`);
    owners.set(n, call);
    const execution = billed.get(n);
    const source = call.ending?.kind === 'response' ? call.ending.source : '';
    if (execution === undefined) wrong.push(`execution ${n} never happened: ${show(call)}`);
    else if (source !== 'ledger' && (execution.batchId === null) !== isOrdinary.test(source)) {
      wrong.push(`the source is wrong: ${show(call)}`);
    }
  }
  return wrong;
}

/** Nothing is paid twice, and nothing is tried more often than allowed. */
function executions(theatre: Theatre, simulator: Simulator): string[] {
  const { meter } = simulator;
  const mayBeSentAgain = sentAgain(theatre, simulator);
  const excused = meter.executions.filter(({ batchId }) => mayBeSentAgain(batchId));
  const isExcused = new Set(excused.map(({ customId }) => customId));
  const wrong = meter
    .executedTwice()
    .filter((id) => !isExcused.has(id))
    .map((id) => `billed twice: ${id}`);
  const tries = new Map<string, number>();
  for (const { customId } of [...meter.executions, ...meter.failures]) {
    if (customId !== null) tries.set(customId, (tries.get(customId) ?? 0) + 1);
  }
  for (const [id, count] of tries) {
    // What expires is tried once more, whatever `attempts` says. A batch that was sent again because
    // no line of it could prove that it had been accepted may have been tried once more, too.
    const most = Math.max(2, ...theatre.calls.map(({ plan }) => plan.attempts ?? 3));
    const more = theatre.resent + (isExcused.has(id) ? most : 0);
    if (count > most + more) wrong.push(`tried ${count} times: ${id}`);
  }
  for (const [key, calls] of groups(theatre.calls, keyOf)) {
    if (calls.some(isSpoiled)) continue;
    const paid = meter.executions.filter((execution) => keyOfExecution(execution) === key).length;
    const answered = calls.filter(answerOf).length;
    const others = calls.filter(
      (call) => answerOf(call) === undefined && mayBePaidFor(call),
    ).length;
    // An ordinary call that brought no answer may have been paid for, and is sent again.
    const [first] = calls;
    const lost =
      first && seemsWithoutBatches(first, theatre) ? hits(theatre, 'realtime', first) : 0;
    const again = lost + excused.filter((execution) => keyOfExecution(execution) === key).length;
    if (paid < answered || paid > answered + others + again) {
      wrong.push(`${paid} executions for ${answered} answers (and ${others} given up): ${key}`);
    }
  }
  return wrong;
}

/** At its deadline a batch is cancelled, and the end of that is seen by a poll. */
const longestPoll = 2 * 3_600_000;

function isTooLate({ plan, askedAt, endedAt }: AskedCall): boolean {
  if (plan.deadline === undefined) return false;
  return endedAt > askedAt + parseDuration(plan.deadline) + 2 * longestPoll;
}

/**
 * The two cases in which the design sends again what may have run: a batch that stays "not found", and
 * one whose results stay unreadable. Only batches that met this may be paid for once more.
 */
function sentAgain(
  { faults }: Theatre,
  { requests }: Simulator,
): (batchId: string | null) => boolean {
  const struck = (name: string, action: object, path: (batchId: string) => RegExp) => {
    const isPossible = faults.some(
      (fault) =>
        fault.struck.hits > 0 &&
        fault.place.name === name &&
        Object.entries(action).every(([key, value]) => Reflect.get(fault.action, key) === value),
    );
    if (!isPossible) return () => 0;
    return (batchId: string) =>
      requests.filter(({ fault, path: asked }) => fault && path(batchId).test(asked)).length;
  };
  const notFound = struck(
    'poll',
    { kind: 'status', status: 404 },
    (id) => new RegExp(`/batches/${id}$`),
  );
  // OpenAI's files do not name their batch.
  const unreadable = struck(
    'results',
    { kind: 'garbage' },
    (id) => new RegExp(`/${id}/results$|/content$`),
  );
  return (batchId) => batchId !== null && (notFound(batchId) > 1 || unreadable(batchId) > 3);
}

/** A call that ended before its batch did: it may have run, and nobody has the answer. */
function mayBePaidFor({ ending, plan, scope }: AskedCall): boolean {
  if (ending?.kind === 'rejected') return true;
  return (
    scope.cancelled ||
    plan.deadline !== undefined ||
    /"batchling_(expired|cancelled)"/.test(ending?.body ?? '')
  );
}

function answerOf({ ending }: AskedCall): string | undefined {
  return ending?.kind === 'response' && ending.status === 200 ? ending.body : undefined;
}

/** The markers spoil lines of batches; of ordinary calls the simulator then says nothing useful. */
function isSpoiled({ prompt, ending }: AskedCall): boolean {
  const isCalled = ending?.kind === 'response' && isOrdinary.test(ending.source);
  return isCalled && /missing|broken|empty/.test(prompt);
}

export function keyOf({ provider, model, prompt }: AskedCall): string {
  return `${provider} ${model} ${prompt}`;
}

function keyOfExecution({ provider, model, body }: Execution): string {
  return `${provider} ${model} ${lastUserText((body as { messages: unknown }).messages)}`;
}

export function groups<T>(items: readonly T[], key: (item: T) => string): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const item of items) {
    const group = found.get(key(item));
    if (group) group.push(item);
    else found.set(key(item), [item]);
  }
  return found;
}

function show(call: AskedCall): string {
  return `${keyOf(call)} → ${JSON.stringify(call.ending, (_, value) => (value instanceof Error ? `${value.name}: ${value.message}` : value))}`;
}
