import { runVariable } from './run.ts';

/** Where the CLI hears the processes of a run. Its presence means: started by the CLI. */
export const reportVariable = 'BATCHLING_REPORT';
/** `true`: the process ends when all its calls are submitted. */
export const detachVariable = 'BATCHLING_DETACH';
/** The path of the config file. */
export const configVariable = 'BATCHLING_CONFIG';

/** What the CLI tells the processes that it starts. These are not options. */
export const internalVariables: readonly string[] = [
  runVariable,
  reportVariable,
  detachVariable,
  configVariable,
];
