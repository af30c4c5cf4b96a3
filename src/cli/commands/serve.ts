import { type Command, Option } from 'commander';
import { docsPage } from '../../base/docs-page.ts';
import { optionFlags } from '../../options/flags.ts';

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
export const serveFlags = optionFlags.filter(({ option }) => !leftOut.has(option));

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
  command
    .addHelpText('after', examples)
    .action(async (flags: Record<string, string | undefined>) => {
      const { serve } = await import('../start/start-gateway.ts');
      await serve(flags);
    });
}
