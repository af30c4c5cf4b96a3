import { type Command, Option } from 'commander';
import { docsPage } from '../../base/docs-page.ts';
import { messageOf } from '../../base/errors.ts';
import { tokenVariable } from '../../base/run-variables.ts';
import type { Dict, Logger } from '../../base/types.ts';
import { ownCredentials } from '../../batchers/own-credentials.ts';
import { builtInInfos } from '../../batchers/registry.ts';
import { Gateway, type GatewayOptions } from '../../gateway/gateway.ts';
import { optionFlags } from '../../options/flags.ts';
import { bytes, duration, integer, timer } from '../../options/scalars.ts';
import { printable } from '../../report/terminal/terminal.ts';
import { configPath, useConfig } from '../config-path.ts';
import { onDoneFlag } from '../done/on-done.ts';
import { tellWhenIdle } from '../done/when-idle.ts';
import { exitCodes } from '../exit-codes.ts';
import { firstSignal } from '../interruptible.ts';
import { addListeningFlags, explained, readPort, tokenFor } from '../listening.ts';
import { addOptionFlags, useOptionFlags, withSwitchValues } from '../option-flags.ts';
import { gatewayJson, gatewayText } from '../print/gateway-text.ts';
import { readFlag } from '../store/ledger-flags.ts';
import { usageError } from '../usage-error.ts';

type Flags = Readonly<Record<string, string | undefined>>;

const perDay = /\/day$/;

const examples = `
A program sets its base URL and works as before, in any language:
  OPENAI_BASE_URL=http://127.0.0.1:8787/openai/v1 python answer_all.py

Examples:
  $ batchling serve                                   on this machine, clients bring their keys
  $ batchling serve --window 30s --store jobs.db      how calls are batched, and where the ledger is
  $ BATCHLING_TOKEN=… batchling serve --host 0.0.0.0  for other machines: they need the token
  $ BATCHLING_TOKEN=… batchling serve --credentials env
                                                      the keys are in the variables of the gateway

${docsPage('gateway.md')} says which client needs which setting
to wait for hours.`;

/** Options that mean nothing to a gateway, or that it decides itself. */
const leftOut: ReadonlySet<string> = new Set(['dryRun', 'cache', 'display', 'hooks']);

const budgetHelp =
  'dollars for all calls until the gateway stops, or as 5/day for each day by UTC, over restarts';

/** The options of `batchify` that the gateway takes as flags. */
const serveFlags = optionFlags.filter(({ option }) => !leftOut.has(option));

export function define(command: Command): void {
  addListeningFlags(command, '8787', 'clients must send it as x-batchling-token')
    .addOption(
      new Option(
        '--credentials <whose>',
        "whose API keys are used: the client's, or those in the variables",
      )
        .choices(['client', 'env'])
        .default('client'),
    )
    .option(
      '--heartbeat <duration>',
      'how often a client that waits is shown a sign of life',
      '15s',
    )
    .option('--max-body <size>', 'the largest body of a request', '64MB')
    .option('--max-waiting <number>', 'requests that may wait at once', '50000')
    .option('--client-waiting <number>', 'the same for one client address', '20000')
    .option('--max-connections <number>', 'connections that may be open at once', '60000')
    .option('--client-connections <number>', 'the same for one client address', '25000')
    .option('--request-time <duration>', 'how long a client may take to send its request', '2m')
    .option(
      '--public-url <url>',
      'where providers reach this gateway: for their webhooks (/webhooks/openai, /webhooks/google)',
    )
    .addOption(onDoneFlag('when no call waits any more'))
    .option('--idle <duration>', 'how long no call may come before --on-done runs', '30s')
    .option('--json', 'print where it listens as JSON')
    .option('--config <file>', 'options from this file (default: that of the project)');
  addOptionFlags(command, serveFlags, { budget: { help: budgetHelp } });
  command.addHelpText('after', examples).action(serve);
}

export function prepare(given: readonly string[]): string[] {
  return withSwitchValues(given, serveFlags);
}

/** Runs the gateway until a signal ends it. */
async function serve(flags: Flags): Promise<void> {
  await useFlags(flags);
  const given = gatewayOptions(flags);
  const idle = readFlag('--idle', flags.idle ?? '', timer('above 0'));
  // Signals are watched before the gateway listens, so that any of them ends it in order.
  const stop = firstSignal();
  const gateway = await explained(Gateway.start(given), given);
  process.stdout.write(flags.json ? gatewayJson(gateway) : gatewayText(gateway, given));
  if (flags.onDone !== undefined) tellWhenIdle(gateway, flags.onDone, idle);
  await stop;
  await gateway.leave();
  // Connections that it does not wait for keep the process up no longer.
  process.exit(exitCodes.fine);
}

async function useFlags(flags: Flags): Promise<void> {
  const path = configPath(flags.config);
  const budget = flags.budget?.replace(perDay, '');
  useOptionFlags({ ...flags, budget }, serveFlags, path !== undefined);
  await useConfig(path);
}

function gatewayOptions(flags: Flags): GatewayOptions {
  const host = flags.host ?? '';
  const token = tokenFor(host, flags.token);
  if (token === undefined && flags.credentials === 'env') {
    throw usageError(
      `--credentials env lets clients use the keys of the gateway: set ${tokenVariable} to a token that they must send`,
    );
  }
  const number = (name: string, flag: string) => readFlag(flag, flags[name] ?? '', integer(1));
  return {
    port: readPort(flags.port ?? ''),
    publicUrl: readPublicUrl(flags.publicUrl),
    host,
    token,
    credentials: flags.credentials === 'env' ? environmentCredentials() : undefined,
    heartbeat: readFlag('--heartbeat', flags.heartbeat ?? '', duration('above 0')),
    limits: {
      bodySize: readFlag('--max-body', flags.maxBody ?? '', bytes),
      waiting: number('maxWaiting', '--max-waiting'),
      waitingPerClient: number('clientWaiting', '--client-waiting'),
      connections: number('maxConnections', '--max-connections'),
      connectionsPerClient: number('clientConnections', '--client-connections'),
      ...times(readFlag('--request-time', flags.requestTime ?? '', duration('above 0'))),
    },
    budgetPerDay: perDay.test(flags.budget ?? ''),
    options: { display: 'none', logger },
  };
}

/** Headers come first, and are short. */
function times(requestTime: number): { requestTime: number; headersTime: number } {
  return { requestTime, headersTime: Math.min(30_000, requestTime) };
}

function readPublicUrl(text: string | undefined): URL | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.username === '' && url.search === '' && url.hash === '';
  if (isPlain && (url?.protocol === 'https:' || url?.protocol === 'http:')) return url;
  throw usageError(
    '--public-url is the https URL at which providers reach this gateway, without a query',
  );
}

/** What an operator should see; the rest is in the metrics. */
const logger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: tell,
  error: tell,
};

function tell(message: string, facts: Readonly<Record<string, unknown>> = {}): void {
  const cause = facts.error === undefined ? '' : `: ${messageOf(facts.error)}`;
  process.stderr.write(`batchling: ${printable(`${message}${cause}`)}\n`);
}

/** The gateway's own credentials: of each provider whose usual variable is set, as headers. */
function environmentCredentials(): ReadonlyMap<string, Dict> {
  const found = builtInInfos.map((info) => [info.name, ownCredentials(info, process.env)] as const);
  return new Map(found.flatMap(([name, headers]) => (headers ? [[name, headers]] : [])));
}
