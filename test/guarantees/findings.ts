import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Finding } from './table.ts';

const folder = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url));
const file = join(folder, 'batchling-faults.json');

/** For scripts/guarantees-doc.ts; no test reads it. */
export function writeFindings(findings: readonly Finding[]): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, `${JSON.stringify(findings, undefined, 2)}\n`);
}

export function readFindings(): Finding[] {
  return JSON.parse(readFileSync(file, 'utf8')) as Finding[];
}
