import { CommanderError } from 'commander';
import { startSimulator } from '../simulator/index.ts';

/** Runs the simulator until the process is ended. */
export async function simulate(flags: Readonly<Record<string, string | boolean>>): Promise<void> {
  const port = wholeNumber('--port', flags.port, 65_535);
  const running = wholeNumber('--speed', flags.speed, 24 * 3_600_000);
  const simulator = await startSimulator({ port, host: String(flags.host), speed: { running } });
  const openai = simulator.baseUrl('openai');
  const anthropic = simulator.baseUrl('anthropic');
  if (flags.json) {
    process.stdout.write(`${JSON.stringify({ url: simulator.url, openai, anthropic })}\n`);
    return;
  }
  process.stdout.write(
    [
      `The simulator listens on ${simulator.url}. Any API key works; nothing is billed.`,
      '',
      `  export OPENAI_BASE_URL=${openai}`,
      `  export ANTHROPIC_BASE_URL=${anthropic}`,
      `  export BATCHLING_HOSTS="${openai}=openai,${anthropic}=anthropic"`,
      '',
      `What it has executed: ${simulator.url}/__simulator/meter. Stop it with Ctrl-C.`,
      '',
    ].join('\n'),
  );
}

function wholeNumber(flag: string, value: unknown, most: number): number {
  const number = Number(value);
  if (Number.isInteger(number) && number >= 0 && number <= most) return number;
  const message = `error: ${flag} must be a whole number from 0 to ${most}, but got: ${String(value)}`;
  process.stderr.write(`${message}\n`);
  throw new CommanderError(2, 'batchling.flag', message);
}
