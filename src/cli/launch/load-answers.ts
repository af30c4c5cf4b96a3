import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AnswerFunction } from '../../simulator/index.ts';
import { usageError } from '../usage-error.ts';

/** The answer function of a module: its export `answer`, or its default export. */
export async function loadAnswers(file: string): Promise<AnswerFunction> {
  const path = resolve(file);
  if (!existsSync(path)) throw usageError(`--answers: there is no file ${path}`);
  const module = await importModule(path);
  const answer = module.answer ?? module.default;
  if (typeof answer === 'function') return answer as AnswerFunction;
  const names = Object.keys(module).join(', ') || 'nothing';
  throw usageError(
    `--answers: ${file} must export a function as \`default\` or \`answer\`, but exports ${names}: ` +
      '`export default ({ prompt }) => "…"`',
  );
}

async function importModule(path: string): Promise<Record<string, unknown>> {
  try {
    return (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_UNKNOWN_FILE_EXTENSION') {
      throw usageError(
        `--answers: this version of Node cannot load ${path}; write it as an .mjs file, or set ` +
          'NODE_OPTIONS="--import tsx"',
      );
    }
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    throw usageError(`--answers: ${path} could not be loaded: ${what}`);
  }
}
