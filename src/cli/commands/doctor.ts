import type { Command } from 'commander';
import type { Finding } from '../doctor/finding.ts';
import type { LiveFlags } from '../doctor/live.ts';
import { exitCodes } from '../exit-codes.ts';
import { print, printJson } from '../print/output.ts';
import { readCredentialFlags } from '../store/find-credential.ts';
import { addLedgerFlags, credentialFlag } from '../store/ledger-flags.ts';
import { type LedgerFlags, optionsFor } from '../store/open-store.ts';
import { usageError } from '../usage-error.ts';

interface DoctorFlags extends LedgerFlags, LiveFlags {
  readonly live?: string;
  readonly credential?: readonly string[];
}

export function define(command: Command): void {
  addLedgerFlags(command)
    .option('--live <provider>', 'send two batches of one request and check what the provider says')
    .option('--model <name>', 'model for --live')
    .option(
      '--base <url>',
      "base URL for --live (default: that of the option hosts, else the provider's own)",
    )
    .option('--record <folder>', 'keep the traffic of --live there, without key, names and ids')
    .option('--yes', 'do not ask before --live spends money')
    .addOption(credentialFlag())
    .addHelpText('after', examples)
    .action(doctor);
}

const examples = `
Keys are shown by the names of their variables only. Exit code 1: something is bad.

Examples:
  $ batchling doctor
  $ batchling doctor --live openai --model gpt-4o-mini
  $ batchling doctor --live openai --record recordings`;

async function doctor(flags: DoctorFlags): Promise<void> {
  const named = readCredentialFlags(flags.credential);
  const options = await optionsFor(flags);
  if (flags.live !== undefined) {
    const { live } = await import('../doctor/live.ts');
    await live(flags.live, { ...flags, named, options });
    return;
  }
  if (flags.model ?? flags.base ?? flags.record)
    throw usageError('--model, --base and --record belong to --live');
  const [{ versions }, { ledgerFindings }, { keys }, { clients }, { surroundings }] =
    await Promise.all([
      import('../doctor/versions.ts'),
      import('../doctor/ledger-findings.ts'),
      import('../doctor/keys.ts'),
      import('../doctor/clients.ts'),
      import('../doctor/surroundings.ts'),
    ]);
  const findings: Finding[] = [
    ...(await versions()),
    ...(await ledgerFindings(options)),
    ...keys(process.env),
    ...(await clients(process.cwd())),
    ...surroundings(process.env, process.cwd()),
  ];
  if (flags.json) await printJson({ findings });
  else await print(findings.flatMap(linesOf));
  if (findings.some(({ level }) => level === 'bad')) process.exitCode = exitCodes.failed;
}

function linesOf({ level, about, text, advice }: Finding): string[] {
  const line = `${level.padEnd(4)}  ${about.padEnd(9)}  ${text}`;
  return advice === undefined ? [line] : [line, `${' '.repeat(17)}${advice}`];
}
