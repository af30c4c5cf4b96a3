import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BatchlingError, messageOf } from '../../base/errors.ts';
import { isRecord } from '../form.ts';
import { resolveOptions } from '../resolve.ts';
import type { ConfigFile } from './config-file.ts';

/** Reads and checks a config file. Throws `INVALID_OPTION` with the path of the file. */
export async function loadConfig(path: string): Promise<ConfigFile> {
  const value = await contentOf(path);
  try {
    resolveOptions(value, undefined, {});
  } catch (error) {
    throw invalid(path, messageOf(error), error);
  }
  return { path, options: withStoreOf(path, value as Record<string, unknown>) };
}

async function contentOf(path: string): Promise<unknown> {
  try {
    if (path.endsWith('.json')) return JSON.parse(await readFile(path, 'utf8'));
    return defaultOf(path, await importModule(path));
  } catch (error) {
    if (BatchlingError.isInstance(error)) throw error;
    throw invalid(path, path.endsWith('.json') ? messageOf(error) : whatAndWhere(error), error);
  }
}

/** The error with the lines of the user's own modules, without those that load them. */
function whatAndWhere(error: unknown): string {
  if (!(error instanceof Error) || error.stack === undefined) return messageOf(error);
  return error.stack.replace(/\n\s+at [^\n]*(node:|node_modules|data:)[\s\S]*$/, '');
}

async function importModule(path: string): Promise<Record<string, unknown>> {
  const { href } = pathToFileURL(path);
  if (!path.endsWith('.ts')) return (await import(href)) as Record<string, unknown>;
  // tsx loads this one file only: the program itself may be JavaScript, which no loader should touch.
  const { tsImport } = await import('tsx/esm/api');
  return (await tsImport(href, import.meta.url)) as Record<string, unknown>;
}

function defaultOf(path: string, module: Record<string, unknown>): unknown {
  const { default: value } = module;
  // TypeScript in a CommonJS package arrives as `module.exports = { default: … }`.
  const isWrapped = isRecord(value) && (value.__esModule === true || 'default' in value);
  const options = isWrapped ? value.default : value;
  if (isRecord(options)) return options;
  throw invalid(path, 'it must export its options: `export default { window: "2s" }`');
}

/** A relative `store` belongs to the file, so that all folders of a project share one ledger. */
function withStoreOf(path: string, options: Record<string, unknown>): Record<string, unknown> {
  const { store } = options;
  const isPath = typeof store === 'string' && !/^(:memory:$|~|[a-z][a-z\d+.-]*:\/\/)/i.test(store);
  return isPath ? { ...options, store: resolve(dirname(path), store) } : options;
}

function invalid(path: string, message: string, cause?: unknown): BatchlingError {
  const facts = { file: path };
  return new BatchlingError('INVALID_OPTION', `Config file ${path}: ${message}`, { cause, facts });
}
