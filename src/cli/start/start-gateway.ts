import { networkInterfaces } from 'node:os';
import { messageOf } from '../../base/errors.ts';
import { tokenVariable } from '../../base/run-variables.ts';
import { shownStore } from '../../base/store-address.ts';
import type { Logger } from '../../base/types.ts';
import { isThisMachine } from '../../gateway/admission/this-machine.ts';
import { Gateway, type GatewayOptions } from '../../gateway/gateway.ts';
import { useConfigFile } from '../../options/config/config-file.ts';
import { checkFlag } from '../../options/flags.ts';
import { resolveOptions } from '../../options/index.ts';
import { bytes, duration, integer } from '../../options/scalars.ts';
import { printable } from '../../report/terminal/terminal.ts';
import { serveFlags } from '../commands/serve.ts';
import { configPath } from '../config-path.ts';
import { exitCodes } from '../exit-codes.ts';
import { readFlag } from '../store/ledger-flags.ts';
import { usageError } from '../usage-error.ts';
import { ownCredentials } from './gateway-credentials.ts';

type Flags = Readonly<Record<string, string | undefined>>;

const perDay = /\/day$/;

/** Runs the gateway until a signal ends it. */
export async function serve(flags: Flags): Promise<void> {
  await useFlags(flags);
  const given = gatewayOptions(flags);
  // Before it listens: whatever ends it from then on ends it in order.
  const stop = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  const gateway = await start(given);
  process.stdout.write(flags.json ? asJson(gateway) : asText(gateway, given));
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

function asJson(gateway: Gateway): string {
  const bases = Object.entries(gateway.baseUrls).map(([provider, url]) => [provider, usable(url)]);
  const facts = { url: usable(gateway.url), store: shownStore(resolveOptions({}).store) };
  return `${JSON.stringify({ ...facts, ...Object.fromEntries(bases) })}\n`;
}

function asText(gateway: Gateway, { token, credentials }: GatewayOptions): string {
  const bases = Object.entries(gateway.baseUrls).map(([name, url]) => [name, usable(url)] as const);
  const url = usable(gateway.url);
  const place = url === gateway.url ? url : `all addresses of this machine, such as ${url}`;
  const own = credentials && new Set(credentials.keys());
  const shown = own ? bases.filter(([provider]) => own.has(provider)) : bases;
  const width = Math.max(0, ...shown.map(([provider]) => provider.length));
  return [
    `The gateway listens on ${place}. Base URLs for SDKs:`,
    '',
    ...shown.map(([provider, base]) => `  ${provider.padEnd(width)}  ${base}`),
    '',
    `The ledger is ${shownStore(resolveOptions({}).store)}.`,
    own ? 'API keys are those of the gateway.' : 'Clients bring their API keys.',
    token === undefined
      ? 'It is for programs on this machine.'
      : 'Every request needs the header x-batchling-token.',
    `How it is: ${url}/healthz and ${url}/metrics. Stop it with Ctrl-C.`,
    '',
  ].join('\n');
}

/** No client can be given the address that stands for all: one of this machine is shown in its place. */
function usable(url: string): string {
  const all = /^(http:\/\/)(?:0\.0\.0\.0|\[::\])(?=:)/;
  if (!all.test(url)) return url;
  const addresses = Object.values(networkInterfaces()).flatMap((some) => some ?? []);
  const reached = addresses.find(({ family, internal }) => family === 'IPv4' && !internal);
  return url.replace(all, `$1${reached?.address ?? '127.0.0.1'}`);
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
