import { gatewayVariable } from '../base/run-variables.ts';
import { patch } from './patch-registry.ts';

/** By name of a variable: the value that leads to the gateway, and the one before, if there was any. */
type GatewayVariables = Readonly<Record<string, readonly [gateway: string, before?: string]>>;

/** The part of Node's options for a new process that is read here. */
interface SpawnOptions {
  /** `NAME=value` each. */
  envPairs?: string[];
}

interface ChildProcessPrototype {
  spawn(options: SpawnOptions): unknown;
}

/**
 * Under `exec --gateway` the variables for base URLs lead to the gateway. In a Node process the hooks capture calls
 * on their way to the provider itself, so the variables are as they were before; what the process starts
 * gets them again, because it need not be Node. Processes that it starts by `execSync` and the like do not.
 */
export function hideGateway(text: string): void {
  const variables = JSON.parse(text) as GatewayVariables;
  for (const [name, [gateway, before]] of Object.entries(variables)) {
    if (process.env[name] !== gateway) continue;
    if (before === undefined) delete process.env[name];
    else process.env[name] = before;
  }
  const { ChildProcess } = process.getBuiltinModule('node:child_process');
  const prototype = ChildProcess.prototype as unknown as ChildProcessPrototype;
  patch(
    prototype,
    'spawn',
    (original) =>
      function spawn(this: unknown, options) {
        if (Array.isArray(options?.envPairs)) show(variables, options.envPairs);
        return Reflect.apply(original, this, [options]);
      },
    'ChildProcess.prototype.spawn',
  );
}

/** A program that gives its child an environment of its own choice, or another base URL, means it. */
function show(variables: GatewayVariables, pairs: string[]): void {
  const given = new Map(pairs.map((pair) => [pair.replace(/=.*$/s, ''), pair]));
  if (!given.has(gatewayVariable)) return;
  for (const [name, [gateway, before]] of Object.entries(variables)) {
    const pair = given.get(name);
    if (pair !== (before === undefined ? undefined : `${name}=${before}`)) continue;
    if (pair !== undefined) pairs.splice(pairs.indexOf(pair), 1);
    pairs.push(`${name}=${gateway}`);
  }
}
