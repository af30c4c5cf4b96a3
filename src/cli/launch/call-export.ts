/**
 * The program that Node runs for `batchling run file.ts:export`: imports the file, calls the export and
 * prints what it returns. Errors of the file and of its function end this process as they end any program.
 */
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { nearest } from '../../options/nearest.ts';
import { exitCodes } from '../exit-codes.ts';
import { exportArguments } from './export-arguments.ts';

type Exports = Readonly<Record<string, unknown>>;
type Callable = (...given: unknown[]) => unknown;

const [node, , file, name, ...given] = process.argv as [string, string, string, string];
// The file sees its own command line.
process.argv = [node, file, ...given];
const functions = functionsOf((await import(pathToFileURL(file).href)) as Exports);
const called = functions.get(name);
if (called === undefined) {
  process.stderr.write(`error: ${noSuchExport()}\n`);
  process.exit(exitCodes.usage);
}
const result = await called(...exportArguments(given));
if (result !== undefined) process.stdout.write(`${textOf(result)}\n`);

/** Exported functions by name. Those of a CommonJS module may all be in its default export. */
function functionsOf(module: Exports): Map<string, Callable> {
  const inner = module.default;
  const isObject = typeof inner === 'object' && inner !== null;
  const all = Object.entries({
    ...(isObject ? (inner as Exports) : {}),
    ...withoutDefault(module),
  });
  const functions = all.filter((entry): entry is [string, Callable] => {
    return typeof entry[1] === 'function' && entry[0] !== 'module.exports';
  });
  return new Map(functions);
}

/** Unless it is a function: an object stands for the exports of a CommonJS module. */
function withoutDefault(module: Exports): Exports {
  const { default: inner, ...named } = module;
  return typeof inner === 'function' ? module : named;
}

function noSuchExport(): string {
  const names = [...functions.keys()];
  const meant = nearest(name, names);
  const advice = meant === undefined ? '' : `\n(Did you mean ${meant}?)`;
  if (names.length === 0) return `${file} exports no function, so none named ${name}`;
  return `${file} exports no function ${name}; it exports ${names.join(', ')}${advice}`;
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    // Functions and symbols are undefined in JSON; bigints and circles throw.
    return JSON.stringify(value, null, 2) ?? inspect(value);
  } catch {
    return inspect(value, { depth: null });
  }
}
