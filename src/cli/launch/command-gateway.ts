import { randomBytes } from 'node:crypto';
import { gatewayVariable } from '../../base/run-variables.ts';
import { registeredBatchers } from '../../batchers/registry.ts';
import { Gateway } from '../../gateway/gateway.ts';
import { resolveOptions } from '../../options/index.ts';
import { leaveCalls } from '../../scope/leaving/leave.ts';
import { processCalls } from '../../scope/process-calls.ts';
import { useConfig } from '../config-path.ts';
import type { RunEnvironment, Variables } from './run-environment.ts';

/** The gateway of `exec --gateway`. */
export interface CommandGateway {
  /** What the command is to find in its environment. */
  readonly variables: Variables;
  /** To be called when the command has ended. */
  close(): Promise<void>;
}

const signals = ['SIGINT', 'SIGTERM'] as const;

/**
 * Starts a gateway in this process, as a part of the run. Other users of the machine could reach its port, so
 * its paths begin with a secret, which only the environment of the command holds.
 */
export async function openCommandGateway(
  { config, display }: RunEnvironment,
  given: Variables,
): Promise<CommandGateway> {
  // The scopes of the gateway take their options from where those of a program do.
  const before = { ...process.env };
  setVariables(given);
  await useConfig(config);
  const secret = randomBytes(24).toString('base64url');
  const gateway = await Gateway.start({ port: 0, host: '127.0.0.1', secret });
  const { variables, kept } = baseUrls(gateway, given);
  if (display !== 'none' && display !== 'json') for (const name of kept) tellKept(name);
  let left: Promise<() => Promise<void>> | undefined;
  const interrupted = () => {
    left ??= leaveGateway(gateway);
  };
  for (const signal of signals) process.on(signal, interrupted);
  return {
    variables: { ...given, ...variables, ...besideProxies(given) },
    async close() {
      // The command may have ended without its answers: another run gets them.
      if (gateway.hasUnanswered) interrupted();
      // Told now: what the command prints while it ends would hide it.
      const tell = await left;
      await (tell ? tell() : gateway.close());
      for (const signal of signals) process.off(signal, interrupted);
      // What is started from here on is no part of the run.
      setVariables(Object.fromEntries(Object.keys(given).map((name) => [name, before[name]])));
    },
  };
}

/** Takes over those that are ours; `undefined` removes one. */
function setVariables(variables: Variables): void {
  for (const [name, value] of Object.entries(variables)) {
    if (!name.startsWith('BATCHLING_')) continue;
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}

/** @returns what tells the user. */
async function leaveGateway(gateway: Gateway): Promise<() => Promise<void>> {
  const sentAway = gateway.leave();
  const tell = await leaveCalls('interrupted');
  await sentAway;
  // Calls that wait keep this process up no longer.
  processCalls().letProcessEnd();
  return tell;
}

/**
 * The variables in which SDKs look for their base URL. One that the user has set keeps its value where that is another
 * server than the gateway would reach: the key in use is meant for that server.
 */
function baseUrls(gateway: Gateway, given: Variables): { variables: Variables; kept: string[] } {
  const variables: Variables = {};
  const hidden: Record<string, (string | undefined)[]> = {};
  const kept: string[] = [];
  for (const { name: provider, info } of registeredBatchers(resolveOptions({}).batchers)) {
    for (const { name, usual } of info.baseUrlVariables ?? []) {
      if (name in hidden || !info.hosts.includes(new URL(usual).host)) continue;
      const place = gateway.baseFor(provider, usual);
      if (place === undefined) continue;
      const before = given[name]?.trim() || undefined;
      if (before !== undefined && before.replace(/\/+$/, '') !== place.instead) {
        kept.push(name);
        continue;
      }
      variables[name] = place.url;
      hidden[name] = before === undefined ? [place.url] : [place.url, before];
    }
  }
  return { variables: { ...variables, [gatewayVariable]: JSON.stringify(hidden) }, kept };
}

function tellKept(name: string): void {
  process.stderr.write(
    `batchling: ${name} is set and stays as it is, so calls of programs that are not Node to that server are not ` +
      'batched. If it can be batched, name it in --hosts; otherwise unset the variable\n',
  );
}

/** A proxy on another machine cannot reach this gateway. */
function besideProxies(given: Variables): Variables {
  const isProxied = ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY'].some(
    (name) => given[name],
  );
  if (!isProxied) return {};
  const before = given.no_proxy || given.NO_PROXY;
  const value = before ? `${before},127.0.0.1` : '127.0.0.1';
  return { no_proxy: value, NO_PROXY: value };
}
