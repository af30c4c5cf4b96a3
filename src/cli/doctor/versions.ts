import { messageOf } from '../../base/errors.ts';
import { version } from '../../base/version.ts';
import { loadDriver } from '../../ledger/sqlite/connection/driver.ts';
import type { Finding } from './finding.ts';

export async function versions(): Promise<Finding[]> {
  const { node } = process.versions;
  const where = `${process.platform} ${process.arch}`;
  return [
    { level: 'ok', about: 'batchling', text: version },
    isSupported(node)
      ? { level: 'ok', about: 'Node', text: `${node}, ${where}` }
      : {
          level: 'bad',
          about: 'Node',
          text: `${node}, ${where}`,
          advice: 'Use Node 20.19 or later.',
        },
    await driver(),
  ];
}

function isSupported(node: string): boolean {
  const [major = 0, minor = 0] = node.split('.').map(Number);
  return major > 20 || (major === 20 && minor >= 19);
}

async function driver(): Promise<Finding> {
  try {
    const { DatabaseSync, source } = await loadDriver();
    const database = new DatabaseSync(':memory:', { timeout: 0 });
    const row = database.prepare('SELECT sqlite_version() AS version').get();
    database.close();
    const kind = source === 'node:sqlite' ? 'built into Node' : 'of @photostructure/sqlite';
    const text = `${(row as { version: string }).version}, ${kind}`;
    return { level: 'ok', about: 'SQLite', text };
  } catch (error) {
    return { level: 'bad', about: 'SQLite', text: messageOf(error) };
  }
}
