import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { checkStoreOf } from '../launch/check-store.ts';
import { launch } from '../launch/launch.ts';
import { importArguments, imports, moduleUrl } from '../launch/own-modules.ts';
import { type ProgramFile, programFile } from '../launch/program-file.ts';
import { runEnvironment } from '../launch/run-environment.ts';
import { addRunFlags, prepareRun, type RunFlags } from '../launch/run-flags.ts';
import { typescriptLoader } from '../launch/typescript-loader.ts';
import { usageError } from '../usage-error.ts';

const notes = `
Flags of batchling stand before the file; what follows it belongs to the program. Where one of the
program's flags is called like one of batchling's, write -- between the file and its arguments.

Examples:
  $ batchling run answer-all.ts
  $ batchling run --batch-size 500 --window 2s answer-all.ts input.csv --verbose
  $ batchling run jobs.ts:summarize report.txt --language en
                                        calls summarize("report.txt", { language: "en" })
                                        and prints what it returns
  $ batchling run --dry-run answer-all.ts
  $ batchling run answer-all.ts -- --dry-run     a flag of the program's own
  $ batchling run --detach answer-all.ts`;

export { prepareRun as prepare };

export function define(command: Command): void {
  command
    .usage('[flags] <file>[:export] [args...]')
    .argument('<file>', 'TypeScript or JavaScript file; `file.ts:name` calls its export `name`')
    .argument('[args...]', 'arguments of the program, or of the export')
    .passThroughOptions();
  addRunFlags(command);
  command.addHelpText('after', notes).action(run);
}

async function run(file: string, given: string[], flags: RunFlags): Promise<void> {
  refuseDeno();
  const program = programFile(file);
  const environment = runEnvironment(flags);
  await checkStoreOf(environment);
  const { variables, config } = environment;
  const loader = typescriptLoader(program.path);
  const urls = [...imports(config), ...(loader === undefined ? [] : [loader])];
  const command = process.execPath;
  const nodeArguments = [...importArguments([...new Set(urls)]), ...entryOf(program), ...given];
  process.exitCode = await launch({
    as: 'run',
    called: file,
    onDone: flags.onDone,
    command,
    given: nodeArguments,
    variables,
    environment,
  });
}

/** Deno does not load the module that captures, and the program would run at full price. */
function refuseDeno(): void {
  if (process.versions.deno === undefined) return;
  throw usageError(
    "Deno cannot be put in batch mode from outside. Write import 'npm:batchling/register' at the top of the " +
      'program and run it with deno, or run it with Node: npx batchling run',
  );
}

/** What Node is to run: the file, or our module that calls its export. */
function entryOf({ path, exportName }: ProgramFile): string[] {
  if (exportName === undefined) return [path];
  return [fileURLToPath(moduleUrl('cli/launch/call-export')), path, exportName];
}
