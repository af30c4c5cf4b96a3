/**
 * Variables that the CLI sets for the processes of a run. They are no options: nobody else sets them,
 * and they have no flag.
 */
export const reportVariable = 'BATCHLING_REPORT';
export const detachVariable = 'BATCHLING_DETACH';
export const configVariable = 'BATCHLING_CONFIG';

export const runVariables: readonly string[] = [reportVariable, detachVariable, configVariable];
