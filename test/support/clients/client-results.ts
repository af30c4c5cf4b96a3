import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url));
const folder = join(modules, '.cache', 'batchling-clients');

/** The columns of the table in docs/clients.md. */
export type Column = 'captured' | 'timeout' | 'abort' | 'stream' | 'errors';

/** `n.a.`: the question does not arise. */
export type Verdict = 'yes' | 'no' | 'n.a.';

interface Outcome {
  readonly verdict: Verdict;
  readonly note?: string;
}

/** One row of the table: what the tests have found out about a client. */
export class ClientResults {
  readonly #client: string;
  readonly #packages: readonly string[];
  readonly #outcomes: Partial<Record<Column, Outcome>> = {};

  constructor(client: string, packages: readonly string[]) {
    this.#client = client;
    this.#packages = packages;
  }

  note(column: Column, verdict: Verdict, note?: string): void {
    this.#outcomes[column] = note === undefined ? { verdict } : { verdict, note };
  }

  /** Runs a case; one that fails is a no, whatever was expected. */
  async judge(
    column: Column,
    work: () => Promise<void>,
    verdict: Verdict = 'yes',
    note?: string,
  ): Promise<void> {
    this.note(column, 'no', 'its test fails');
    await work();
    this.note(column, verdict, note);
  }

  /** For scripts/clients-doc.mjs; nothing here reads it. */
  async write(): Promise<void> {
    const versions = await Promise.all(this.#packages.map(versionOf));
    const row = { client: this.#client, versions, node: process.version, ...this.#outcomes };
    mkdirSync(folder, { recursive: true });
    const file = `${this.#client.replace(/[^a-z0-9]+/gi, '-')}.json`;
    writeFileSync(join(folder, file), `${JSON.stringify(row, undefined, 2)}\n`);
  }
}

async function versionOf(name: string): Promise<string> {
  if (name.startsWith('node:')) return name;
  const text = await readFile(join(modules, name, 'package.json'), 'utf8');
  return `${name}@${(JSON.parse(text) as { version: string }).version}`;
}
