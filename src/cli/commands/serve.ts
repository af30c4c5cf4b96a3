import { type Command, Option } from 'commander';
import { docsPage } from '../../base/docs-page.ts';
import { messageOf } from '../../base/errors.ts';
import { tokenVariable } from '../../base/run-variables.ts';
import type { Logger } from '../../base/types.ts';
import { isThisMachine } from '../../gateway/admission/this-machine.ts';
import { Gateway, type GatewayOptions } from '../../gateway/gateway.ts';
import { useConfigFile } from '../../options/config/config-file.ts';
import { checkFlag, optionFlags } from '../../options/flags.ts';
import { bytes, duration, integer } from '../../options/scalars.ts';
import { printable } from '../../report/terminal/terminal.ts';
import { configPath } from '../config-path.ts';
import { exitCodes } from '../exit-codes.ts';
import { gatewayJson, gatewayText } from '../print/gateway-text.ts';
import { readFlag } from '../store/ledger-flags.ts';
import { ownCredentials } from '../store/own-credentials.ts';
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
  command
    .option('--port <number>', 'port to listen on; 0 takes any free one', '8787')
    .option(
      '--host <address>',
      'address to listen on; any but this machine needs a token',
      '127.0.0.1',
    )
    .option(
      '--token <text>',
      'clients must send it as x-batchling-token (better: BATCHLING_TOKEN, which others cannot see)',
    )
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
    .option('--json', 'print where it listens as JSON')
    .option('--config <file>', 'options from this file (default: that of the project)');
  for (const { name, option, help, usual } of serveFlags) {
    const said = option === 'budget' ? budgetHelp : help;
    command.option(`${name} <value>`, `${said} (default: ${usual})`);
  }
  command.addHelpText('after', examples).action(serve);
}

/** Runs the gateway until a signal ends it. */
async function serve(flags: Flags): Promise<void> {
  await useFlags(flags);
  const given = gatewayOptions(flags);
  // Signals are watched before the gateway listens, so that any of them ends it in order.
  const stop = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  const gateway = await start(given);
  process.stdout.write(flags.json ? gatewayJson(gateway) : gatewayText(gateway, given));
  await stop;
  await gateway.leave();
  // Connections that it does not wait for keep the process up no longer.
  process.exit(exitCodes.fine);
}

/** Flags of options count as their variables, which all scopes of the gateway read. */
async function useFlags(flags: Flags): Promise<void> {
  const path = configPath(flags.config);
  for (const flag of serveFlags) {
    const text = flags[flag.option]?.replace(flag.option === 'budget' ? perDay : '', '');
    if (text === undefined) continue;
    checkFlag(flag, text, path !== undefined);
    process.env[flag.variable] = text;
  }
  if (path === undefined) return;
  const { loadConfig } = await import('../../options/config/load-config.ts');
  useConfigFile(await loadConfig(path));
}

function gatewayOptions(flags: Flags): GatewayOptions {
  const host = flags.host ?? '';
  const token = flags.token ?? (process.env[tokenVariable]?.trim() || undefined);
  if (token === '') throw usageError('--token is empty');
  if (token === undefined && !isThisMachine(host)) {
    throw usageError(
      `--host ${host} can be reached from other machines: set ${tokenVariable} to a token that clients must send`,
    );
  }
  if (token === undefined && flags.credentials === 'env') {
    throw usageError(
      `--credentials env lets clients use the keys of the gateway: set ${tokenVariable} to a token that they must send`,
    );
  }
  const number = (name: string, flag: string) => readFlag(flag, flags[name] ?? '', integer(1));
  return {
    port: readPort(flags.port ?? ''),
    host,
    token,
    credentials: flags.credentials === 'env' ? ownCredentials(process.env) : undefined,
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

function readPort(text: string): number {
  const port = Number(text);
  if (text !== '' && Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw usageError(`--port must be a whole number from 0 to 65535, but got: ${text}`);
}

async function start(given: GatewayOptions): Promise<Gateway> {
  try {
    return await Gateway.start(given);
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code === 'EADDRINUSE') {
      throw usageError(`--port: ${given.port} is in use; give another one, or 0 for any free one`);
    }
    if (code === 'EACCES') throw usageError(`--port: ${given.port} is not allowed to you`);
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
      throw usageError(`--host: ${given.host} is no address of this machine`);
    }
    throw error;
  }
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
