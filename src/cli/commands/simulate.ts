import type { Command } from 'commander';
import type { Simulator } from '../../simulator/index.ts';
import { loadAnswers } from '../launch/load-answers.ts';
import { explained, readPort, readWhole } from '../listening.ts';
import { usageError } from '../usage-error.ts';

type Flags = Readonly<Record<string, string | boolean>>;

const examples = `
Examples:
  $ batchling simulate                        then set the variables that it prints
  $ batchling simulate --port 0 --json        any free port, its URLs as JSON
  $ batchling simulate --answers answers.mjs  answers made by a function of yours`;

export function define(command: Command): void {
  command
    .option('--port <number>', 'port to listen on; 0 takes any free one', '4010')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--speed <milliseconds>', 'how long a batch runs', '2000')
    .option('--answers <file>', 'module whose default export, or `answer`, gives the answers')
    .option('--models <names>', 'the models there are, separated by commas; others are refused')
    .option('--json', 'print where it listens as JSON')
    .addHelpText('after', examples)
    .action(simulate);
}

/** Runs the simulator until the process is ended. */
async function simulate(flags: Flags): Promise<void> {
  const port = readPort(String(flags.port));
  const running = readWhole('--speed', String(flags.speed), 24 * 3_600_000);
  const models = flags.models === undefined ? null : namesOf(String(flags.models));
  const answer = flags.answers === undefined ? null : await loadAnswers(String(flags.answers));
  const host = String(flags.host);
  const { startSimulator } = await import('../../simulator/index.ts');
  const starting = startSimulator({ port, host, speed: { running }, models, answer });
  const simulator = await explained(starting, { port, host });
  process.stdout.write(flags.json ? asJson(simulator) : asText(simulator, flags));
}

function asJson(simulator: Simulator): string {
  const bases = simulator.providers.map((name) => [name, simulator.baseUrl(name)]);
  return `${JSON.stringify({ url: simulator.url, ...Object.fromEntries(bases) })}\n`;
}

function asText(simulator: Simulator, flags: Flags): string {
  const openai = simulator.baseUrl('openai');
  const anthropic = simulator.baseUrl('anthropic');
  return [
    `The simulator listens on ${simulator.url}. Any API key works; nothing is billed.`,
    ...(flags.answers === undefined ? [] : [`Its answers come from ${flags.answers}.`]),
    ...(flags.models === undefined ? [] : [`It knows these models only: ${flags.models}.`]),
    '',
    'In the terminal of your program (SDKs read the first two, batchling the third):',
    '',
    `  export OPENAI_BASE_URL=${openai}`,
    `  export ANTHROPIC_BASE_URL=${anthropic}`,
    `  export BATCHLING_HOSTS="${openai}=openai,${anthropic}=anthropic"`,
    '',
    `It speaks for ${simulator.providers.length} providers; --json prints the base URL of each.`,
    `What it has executed: ${simulator.url}/__simulator/meter. Stop it with Ctrl-C.`,
    '',
  ].join('\n');
}

function namesOf(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.every((name) => name !== '')) return names;
  throw usageError(`--models must be names with commas between them, but got: ${text}`);
}
