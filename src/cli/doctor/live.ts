import { version } from '../../base/version.ts';
import type { Batcher, Route } from '../../batchers/batcher.ts';
import { keyHeader } from '../../batchers/own-credentials.ts';
import { builtInInfos, registeredBatchers } from '../../batchers/registry.ts';
import { KeepAlive } from '../../concurrency/keep-alive.ts';
import { createHttpClient } from '../../http/client.ts';
import type { ResolvedOptions } from '../../options/index.ts';
import { exitCodes } from '../exit-codes.ts';
import { confirm } from '../print/confirm.ts';
import { note, print, printJson } from '../print/output.ts';
import { type NamedVariables, variablesFor } from '../store/find-credential.ts';
import { usageError } from '../usage-error.ts';
import { LiveBatch, type LiveResult } from './live-batch.ts';
import { liveReport, outcomeOf } from './live-report.ts';
import { type Sample, sampleFor } from './live-sample.ts';
import { type Exchange, writeRecording } from './recording.ts';
import { recordingWire } from './recording-wire.ts';
import { Redactor } from './redactor.ts';

export interface LiveFlags {
  readonly model?: string;
  readonly base?: string;
  readonly yes?: boolean;
  /** The folder for a recording. */
  readonly record?: string;
}

interface LiveOptions extends LiveFlags {
  readonly json?: boolean;
  readonly named: NamedVariables;
  readonly options: ResolvedOptions;
}

/** Sends two batches of one request to a real provider and reports what it does. */
export async function live(provider: string, given: LiveOptions): Promise<void> {
  const registered = registeredBatchers(given.options.batchers).find(
    ({ name }) => name === provider,
  );
  if (registered === undefined) throw usageError(unknownProvider(provider));
  const { info } = registered;
  const sample = sampleFor(info, given, given.options.hosts);
  const variables = variablesFor({ provider }, info, given.named);
  const variable = variables.find((name) => process.env[name]?.trim());
  if (variable === undefined) {
    const [first = 'a variable, named with --credential,'] = variables;
    throw new Error(`no key for ${provider}: set ${first} to one.`);
  }
  note(
    `two batches of one request each go to ${sample.base} (${sample.model}, some 20 tokens; the second is ` +
      `cancelled at once) with the key in ${variable}. It costs a fraction of a cent and may take up to a day.`,
  );
  if (!given.yes && !(await confirm('Send them?', false))) {
    throw usageError('--live spends money: add --yes');
  }
  const batcher = await registered.load();
  const key = process.env[variable]?.trim() ?? '';
  await probe(batcher, sample, keyHeader(info, variable, key), given);
}

async function probe(
  batcher: Batcher,
  sample: Sample,
  headers: Readonly<Record<string, string>>,
  { options, json, record }: LiveOptions,
): Promise<void> {
  const { clock, dispatcher, poll } = options;
  const http = createHttpClient({ clock, dispatcher });
  const { base } = sample;
  const ids: string[] = [];
  const origins = batcher.origins(base);
  const bare = http.wire({ base, origins, credentials: () => ({ headers }) });
  const open = `${sample.path} ${sample.model} ${sample.body}`;
  const redactor = new Redactor(Object.values(headers), open);
  const wire = recordingWire(bare, () => ids, record === undefined ? undefined : redactor);
  const stop = new AbortController();
  const onSignal = () => stop.abort(new Error('interrupted'));
  const keepAlive = new KeepAlive();
  process.once('SIGINT', onSignal);
  keepAlive.hold();
  try {
    const route = routeOf(batcher, sample);
    const sent = new LiveBatch(batcher, wire, route);
    const finished = await sent.run(poll.minimum, stop.signal);
    const first = wire.takeExchanges();
    const second = new LiveBatch(batcher, wire, route);
    const cancelled = await second.run(poll.minimum, stop.signal, (remote) =>
      batcher.cancel(wire, remote),
    );
    ids.push(...sent.ids, ...second.ids);
    const results = { finished, cancelled, now: clock.now() };
    const report = liveReport({ batcher, sample, wire, redactor, ...results });
    if (json) await printJson(report.facts);
    else await print(report.lines.map((line) => wire.redact(line)));
    if (record === undefined) return;
    const recorded = ({ names }: LiveBatch, exchanges: Exchange[], result: LiveResult) => ({
      token: redactor.text(names.token),
      itemId: redactor.text(names.itemId),
      outcome: redactor.body(JSON.stringify(outcomeOf(batcher, result))) as object,
      exchanges,
    });
    const path = await writeRecording(record, {
      provider: batcher.info.name,
      source: `batchling ${version} doctor --live`,
      recorded: new Date(clock.now()).toISOString().slice(0, 10),
      model: sample.model,
      base: redactor.text(new URL(base).pathname),
      finished: recorded(sent, first, finished),
      cancelled: recorded(second, wire.takeExchanges(), cancelled),
    });
    note(`recorded without key, names and ids in ${path}. Read it before you share it.`);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    note('stopped. Batches that were sent go on at the provider and are in no ledger.');
    process.exitCode = exitCodes.interrupted;
  } finally {
    keepAlive.release();
    process.off('SIGINT', onSignal);
    await http.close();
  }
}

export function routeOf(batcher: Batcher, { path, headers, body }: Sample): Route {
  const call = { query: '', path, headers, body, json: JSON.parse(body), settings: {} };
  const match = batcher.match(call);
  if ('endpoint' in match && 'body' in match) return match;
  const why = 'bypass' in match ? match.bypass : 'unconfigured' in match ? match.unconfigured : '';
  throw new Error(`This call cannot be batched: ${why}`);
}

function unknownProvider(given: string): string {
  const names = builtInInfos.map(({ name }) => name);
  return `--live: no provider is called "${given}". They are ${names.join(', ')}.`;
}
