/**
 * The program that Node runs for `batchling run file.ts:export`: imports the file, calls the export and
 * prints what it returns. Errors of the file and of its function end this process as they end any program.
 */
import { pathToFileURL } from 'node:url';
import { exitCodes } from '../exit-codes.ts';
import { exportArguments } from './export-arguments.ts';
import { exportedFunctions, noSuchExport } from './exported-functions.ts';
import { printedValue } from './printed-value.ts';

const [node, , file, name, ...given] = process.argv as [string, string, string, string];
// The file sees its own command line.
process.argv = [node, file, ...given];
const functions = exportedFunctions(await import(pathToFileURL(file).href));
const called = functions.get(name);
if (called === undefined) {
  process.stderr.write(`error: ${noSuchExport(file, name, [...functions.keys()])}\n`);
  process.exit(exitCodes.usage);
}
process.stdout.write(printedValue(await called(...exportArguments(given))));
