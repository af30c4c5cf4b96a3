export type { Environment } from './options/form.ts';
export { providerNames } from './options/provider-names.ts';
export type { ProviderSettings } from './options/providers.ts';
export { parseOptionText, resolveOptions } from './options/resolve.ts';
export type { PollRange } from './options/scalars.ts';
export { silentLogger, systemClock } from './options/seams.ts';
export {
  flagOf,
  type OptionDefinition,
  optionNames,
  optionTable,
  variableOf,
} from './options/table.ts';
export type {
  BatchifyOptions,
  Duration,
  OptionName,
  ResolvedOptions,
} from './options/types.ts';
