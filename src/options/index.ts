export { resolveOptions } from './resolve.ts';
export { inheritedRun } from './run.ts';
export {
  optionNames,
  optionTable,
  type ResolvedOptions,
  variableOf,
} from './table.ts';
export type { BatchifyOptions, Duration } from './types.ts';
