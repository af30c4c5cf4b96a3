export { inheritedRun } from './inherited-run.ts';
export { resolveOptions } from './resolve.ts';
export {
  optionNames,
  optionTable,
  type ResolvedOptions,
  variableOf,
} from './table.ts';
export type { BatchifyOptions, Duration } from './types.ts';
