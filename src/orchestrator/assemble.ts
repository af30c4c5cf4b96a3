import { UnstoredCosts } from './answer/unstored-costs.ts';
import { Accounts } from './capture/accounts.ts';
import { ClientRetries } from './capture/client-retries.ts';
import { EngineDepartures } from './capture/departures.ts';
import { Intake } from './capture/intake.ts';
import { Spool } from './capture/spool.ts';
import { BatchEndings } from './collect/batch-endings.ts';
import { Collector } from './collect/collector.ts';
import { RequestsAhead } from './gate/requests-ahead.ts';
import { FlexTiers } from './lanes/flex-tiers.ts';
import { OrdinaryCalls } from './lanes/ordinary-calls.ts';
import { LineSender } from './lines/send-lines.ts';
import type { OrdinaryLane } from './model/call.ts';
import type { Caller } from './model/caller.ts';
import type { EngineContext } from './model/engine-context.ts';
import type { Request } from './model/request.ts';
import type { RequestQueue } from './model/request-queue.ts';
import type { EngineOptions } from './new-context.ts';
import { Queues } from './queue/queues.ts';
import { BatchLife } from './submit/batch-life.ts';
import { Budgets } from './submit/budgets.ts';
import { CreateFinder } from './submit/find-create.ts';
import { Permits } from './submit/permit.ts';
import { SubmitProtocol } from './submit/submit-protocol.ts';
import { Submitter } from './submit/submitter.ts';
import { OtherOwners } from './takeover/other-owners.ts';
import { Takeover } from './takeover/takeover.ts';
import { Deadlines } from './watch/deadlines.ts';
import { SlowBatches } from './watch/slow-batches.ts';
import { Watcher } from './watch/watcher.ts';

/** The modules of an engine that it talks to itself. */
export type EngineParts = ReturnType<typeof assemble>;

/**
 * Wires the modules of a call's walk together: intake → queue → submitter → watcher → collector. The functions at
 * the top are the ways back: what a later step hands to an earlier one.
 */
export function assemble(context: EngineContext, options: EngineOptions) {
  const { ledger, http, occurrences, keepsBodies = false, accountsApart = false } = options;
  const withdraw = (requests: readonly Request[]) => queues.withdraw(requests);
  const send = (queue: RequestQueue, requests: readonly Request[]) =>
    submitter.send(queue, requests);
  const sendOrdinary = (request: Request, lane: OrdinaryLane) => ordinaryCalls.add(request, lane);
  const endDue = (callers: readonly Caller[]) => deadlines.end(callers);
  const follow = (request: Request) => {
    const { row, occurrence } = request;
    otherOwners.follow(request, { is: 'wait', request: row, occurrence });
  };

  const accounts = new Accounts(ledger, http, accountsApart ? 'unproved' : 'trusted');
  const spool = new Spool(ledger, { writesAll: keepsBodies });
  const budgets = new Budgets(context);
  const spending = {
    newSpending: budgets.ofRealtimeCall.bind(budgets),
    costs: new UnstoredCosts(context),
  };
  const clientRetries = new ClientRetries(context.clock, options.abandoned, spending, occurrences);
  // A gateway runs for weeks, and what was refused may be allowed by then.
  const refusedFor = accountsApart ? 10 * 60_000 : undefined;
  const gate = new RequestsAhead(context, { send, call: sendOrdinary }, refusedFor);
  const tiers = new FlexTiers(context);
  const laneOf = tiers.laneOf.bind(tiers);
  const queues = new Queues(
    context,
    { bodies: spool, clientRetries, gate, laneOf, sendOrdinary },
    (queue, requests, reason) => submitter.submit(queue, requests, reason),
  );
  const deadlines = new Deadlines(context, { withdraw, sendOrdinary });
  const permits = new Permits(context);
  const finder = new CreateFinder(context);
  const protocol = new SubmitProtocol(context, finder);
  const watcher = new Watcher(context);
  const ordinaryCalls: OrdinaryCalls = new OrdinaryCalls(context, {
    budgets,
    tiers,
    withdraw,
    endDue,
    follow,
  });
  const life = new BatchLife(
    context,
    {
      collector: new Collector(context, { sendOrdinary, endDue }),
      deadlines,
      slowBatches: new SlowBatches(context, laneOf),
      watcher,
      lookForTwins: finder.lookForTwins.bind(finder),
    },
    new BatchEndings(context, { send, withdraw, endDue, follow }),
  );
  const submitter: Submitter = new Submitter(context, {
    permits,
    budgets,
    protocol,
    life,
    deadlines,
    withdraw,
    sendOrdinary,
    laneOf,
    follow,
  });
  const takeover: Takeover = new Takeover(context, {
    finder,
    protocol,
    permits,
    life,
    caughtUp: () => intake.drained(),
  });
  const claim = takeover.claim.bind(takeover);
  const otherOwners: OtherOwners = new OtherOwners(context, claim, endDue);
  const departures = new EngineDepartures(context, queues, otherOwners, (request) =>
    ordinaryCalls.cancel(request),
  );
  const intake: Intake = new Intake(context, {
    accounts,
    queues,
    spool,
    clientRetries,
    deadlines,
    departures,
    occurrences,
    accountsApart,
    follow: otherOwners.follow.bind(otherOwners),
  });
  const isOpen = gate.isOpen.bind(gate);
  const lines = new LineSender(context, {
    accounts,
    queues,
    permits,
    budgets,
    protocol,
    life,
    keepsBodies,
    isOpen,
  });
  return {
    accounts,
    queues,
    takeover,
    intake,
    departures,
    otherOwners,
    watcher,
    deadlines,
    permits,
    ordinaryCalls,
    lines,
  };
}
