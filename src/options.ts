export { parseOptionText, resolveOptions } from './options/resolve.ts';
export { inheritedRun } from './options/run.ts';
export { flagOf, optionNames, optionTable, variableOf } from './options/table.ts';
export type { BatchifyOptions, ResolvedOptions } from './options/types.ts';
