/**
 * Imported before `batchling/register` in the processes of a run with a config file. A module of its own,
 * because it awaits: `batchling/register` can also be loaded by `require`, which allows no await.
 */
import { BatchlingError, messageOf } from '../../base/errors.ts';
import { configVariable, uncheckedVariable } from '../../base/run-variables.ts';
import { useConfigFile } from '../../options/config/config-file.ts';
import { loadConfig } from '../../options/config/load-config.ts';
import { resolveOptions } from '../../options/index.ts';
import { exitCodes } from '../exit-codes.ts';

const path = process.env[configVariable];
if (path) {
  try {
    useConfigFile(await loadConfig(path));
    if (process.env[uncheckedVariable]) {
      // Processes that this one starts need not do it again.
      delete process.env[uncheckedVariable];
      const { checkStore } = await import('./check-store.ts');
      await checkStore(resolveOptions({}), process.env);
    }
  } catch (error) {
    const isStore = BatchlingError.isInstance(error) && error.code.startsWith('STORE_');
    process.stderr.write(`error: ${messageOf(error)}\n`);
    process.exit(isStore ? exitCodes.failed : exitCodes.usage);
  }
}
