export { parseOptionText, resolveOptions } from './resolve.ts';
export { inheritedRun } from './run.ts';
export { flagOf, optionNames, optionTable, variableOf } from './table.ts';
export type { BatchifyOptions, ResolvedOptions } from './types.ts';
