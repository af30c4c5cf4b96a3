import type { Dict } from '../base/types.ts';
import type { GatewayContext } from './gateway-context.ts';

type Sample = readonly [labels: Dict, value: number];
type Values = number | readonly Sample[];

/** The numbers of the gateway as Prometheus reads them. */
export async function metrics(context: GatewayContext): Promise<string> {
  const { counts, waiting, engine, scopes, passedCosts } = context;
  const stats = scopes.stats();
  const { tokens, dollars } = stats;
  const passed = passedCosts.dollars;
  const open = await engine.reader.list({ open: true });
  const states = new Map<string, number>();
  for (const { state } of open) states.set(state, (states.get(state) ?? 0) + 1);
  const ofState = [...states].map(([state, count]): Sample => [{ state }, count]);
  const refused = [...counts.refused].map(([reason, count]): Sample => [{ reason }, count]);
  return [
    counter('requests_total', 'Requests of clients.', counts.requests),
    counter('refused_total', 'Requests that the gateway refused, by reason.', refused),
    counter('calls_total', 'Calls that were taken in to be batched.', stats.captured),
    counter('answered_total', 'Calls that were answered.', stats.answered),
    counter('answered_from_ledger_total', 'Calls answered from the ledger.', stats.fromLedger),
    counter('failed_total', 'Calls that were answered with an error.', stats.failed),
    counter('retried_total', 'Requests that were tried again.', stats.retried),
    counter('realtime_total', 'Calls that were sent as ordinary ones.', stats.realtime),
    counter('flex_total', 'Calls that were sent in the half-price tier.', stats.flex),
    counter('bypassed_total', 'Calls passed through to their provider.', counts.passedThrough),
    counter('gave_up_total', 'Clients that left before their answer was there.', counts.gaveUp),
    gauge('waiting', 'Requests that wait for their answers.', waiting.all),
    gauge('open_batches', 'Batches of the ledger that are not finished, by state.', ofState),
    counter('batches_total', 'Batches by what this gateway has done with them.', [
      [{ step: 'submitted' }, stats.batches.submitted],
      [{ step: 'ended' }, stats.batches.ended],
      [{ step: 'collected' }, stats.batches.collected],
    ]),
    counter('tokens_total', 'Tokens of answers.', [
      [{ kind: 'input' }, tokens.input + passedCosts.tokens.input],
      [{ kind: 'output' }, tokens.output + passedCosts.tokens.output],
    ]),
    counter('dollars_paid_total', 'Dollars at list prices, with discounts.', dollars.paid + passed),
    counter(
      'dollars_realtime_total',
      'Dollars paid for ordinary calls.',
      dollars.realtime + passed,
    ),
    // A batch without a rate for cached input may cost more than ordinary calls: a counter must not fall.
    gauge('dollars_saved_total', 'Dollars saved by batches.', dollars.saved),
    counter('poll_errors_total', 'Looks at a batch that failed.', engine.failuresOf('poll')),
  ].join('');
}

function counter(name: string, help: string, values: Values): string {
  return family('counter', name, help, values);
}

function gauge(name: string, help: string, values: Values): string {
  return family('gauge', name, help, values);
}

function family(type: string, name: string, help: string, values: Values): string {
  const samples = typeof values === 'number' ? [[{}, values] as Sample] : values;
  const lines = samples.map(([labels, value]) => `batchling_${name}${written(labels)} ${value}\n`);
  return `# HELP batchling_${name} ${help}\n# TYPE batchling_${name} ${type}\n${lines.join('')}`;
}

/** Values of labels are words of ours, so nothing is escaped. */
function written(labels: Dict): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}
