import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRegistry } from '../support/processes/local-registry.ts';
import { packPackage } from '../support/processes/pack-package.ts';
import { NewcomerShell } from './newcomer-shell.ts';

/** An empty folder on a machine that knows nothing of batchling, and a registry that has its package. */
export interface NewcomerProject {
  /** Around the project; also the home folder. */
  readonly folder: string;
  readonly project: string;
  readonly shell: NewcomerShell;
  close(): Promise<void>;
}

export async function openNewcomerProject(): Promise<NewcomerProject> {
  const folder = await mkdtemp(join(tmpdir(), 'batchling-newcomer-'));
  const registry = await startRegistry(folder, await packPackage(folder));
  const project = join(folder, 'project');
  await mkdir(project);
  const shell = new NewcomerShell(project, {
    PATH: process.env.PATH,
    HOME: folder,
    XDG_CACHE_HOME: join(folder, 'cache'),
    npm_config_cache: join(folder, 'npm'),
    npm_config_registry: registry.url,
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  });
  return {
    folder,
    project,
    shell,
    async close() {
      registry.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
