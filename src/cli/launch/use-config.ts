/**
 * Imported before `batchling/register` in the processes of a run with a config file. A module of its own,
 * because it awaits: `batchling/register` can also be loaded by `require`, which allows no await.
 */
import { messageOf } from '../../errors.ts';
import { useConfigFile } from '../../options/config/config-file.ts';
import { loadConfig } from '../../options/config/load-config.ts';
import { configVariable } from '../../run-variables.ts';
import { exitCodes } from '../exit-codes.ts';

const path = process.env[configVariable];
if (path) {
  try {
    useConfigFile(await loadConfig(path));
  } catch (error) {
    process.stderr.write(`error: ${messageOf(error)}\n`);
    process.exit(exitCodes.usage);
  }
}
