import Anthropic from '@anthropic-ai/sdk';
import OpenAI, { type ClientOptions } from 'openai';
import { type RunningCli, startCli, variablesOf } from '../support/processes/run-cli.ts';
import type { Finished } from '../support/processes/run-program.ts';
import type { Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

export interface GatewayProcess {
  readonly url: string;
  /** Of the provider, for an SDK. */
  base(provider: string): string;
  readonly cli: RunningCli;
  openai(given?: ClientOptions): OpenAI;
  anthropic(): Anthropic;
  /** The value of a metric without labels, or with these. */
  metric(name: string): Promise<number>;
  /** Waits until the metric is as large. */
  reaches(name: string, value: number): Promise<void>;
  /** Asks for a chat completion by fetch. */
  ask(content: string, headers?: Record<string, string>): Promise<Response>;
  kill(signal?: NodeJS.Signals): Promise<Finished>;
}

export interface GatewaySetting {
  readonly store?: string;
  readonly flags?: readonly string[];
  readonly environment?: Record<string, string>;
}

/** Starts the real `batchling serve` in front of the simulator of a stage. */
export async function startGateway(
  stage: Stage,
  { store = stage.newStore(), flags = [], environment = {} }: GatewaySetting = {},
): Promise<GatewayProcess> {
  const cli = await startCli(['serve', '--port', '0', '--json', ...flags], {
    folder: stage.folder,
    environment: { ...variablesOf(stage, store), ...environment },
  });
  let over: Finished | undefined;
  // A test that fails leaves no gateway behind.
  const killAtEnd = () => cli.process.kill('SIGKILL');
  process.once('exit', killAtEnd);
  void cli.ended.then((finished) => {
    over = finished;
    process.off('exit', killAtEnd);
  });
  await until(() => cli.stdout().includes('\n') || over !== undefined, 'the gateway');
  if (over) throw new Error(`The gateway ended with ${over.code}: ${over.stderr}`);
  const printed = JSON.parse(cli.stdout()) as Record<string, string>;
  const url = printed.url as string;
  const metric = async (name: string) => {
    const text = await (await fetch(`${url}/metrics`)).text();
    const line = text.split('\n').find((one) => one.startsWith(`batchling_${name} `));
    return Number(line?.split(' ').at(-1));
  };
  return {
    url,
    cli,
    base: (provider) => printed[provider] as string,
    openai: (given) =>
      new OpenAI({
        apiKey: 'sk-client',
        baseURL: printed.openai as string,
        maxRetries: 0,
        ...given,
      }),
    anthropic: () =>
      new Anthropic({ apiKey: 'sk-ant', baseURL: printed.anthropic as string, maxRetries: 0 }),
    metric,
    async reaches(name, value) {
      let isThere = false;
      while (!isThere) isThere = (await metric(name)) >= value;
    },
    ask: (content, headers) =>
      fetch(`${url}/openai/v1/chat/completions`, chatRequest(content, headers)),
    async kill(signal = 'SIGKILL') {
      cli.process.kill(signal);
      return cli.ended;
    },
  };
}

export function chatRequest(content: string, headers: Record<string, string> = {}): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer sk-client', ...headers },
    body: chatBody(content),
  };
}

export function chatBody(content: string, more: object = {}): string {
  return JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content }], ...more });
}

export async function textOf(response: Response): Promise<string | undefined> {
  const json = (await response.json()) as { choices?: { message: { content: string } }[] };
  return json.choices?.[0]?.message.content;
}
