import type { Setting } from '../batchers/provider-info.ts';
import type { BuiltInInfo } from '../batchers/registry.ts';
import type { commonSettings } from './providers.ts';

/**
 * The providers of your own batchers, by name, with the settings they declare. Empty until you add to it,
 * so that a misspelt provider is an error of the compiler.
 *
 * @example
 * declare module 'batchling' {
 *   interface OwnProviders {
 *     mine: { region?: 'eu' | 'us' };
 *   }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: programs add to it.
export interface OwnProviders {}

/**
 * A provider that options can name: a built-in one, or one of `OwnProviders`.
 *
 * @example
 * const provider: ProviderName = 'anthropic';
 */
export type ProviderName = BuiltInInfo['name'] | keyof OwnProviders;

/**
 * What `only` takes as text: provider names, with models after a colon. The compiler checks the first name,
 * `batchify` all of them.
 *
 * @example
 * const only: OnlyText = 'openai,anthropic:claude-*';
 */
export type OnlyText = OnlyPart | `${OnlyPart},${string}`;
type OnlyPart = ProviderName | '*' | `${ProviderName | '*'}:${string}`;

/**
 * What `providers` holds: settings by provider name, each as its batcher declares it. Every provider has
 * `cancelAtDeadline`, `credential`, `limits`, `priceShare` and `prices`.
 *
 * @example
 * const providers: ProviderSettings = { openai: { credential: () => process.env.TOKEN ?? '' } };
 */
export type ProviderSettings = {
  readonly [Info in BuiltInInfo as Info['name']]?: Omit<CommonSettings, keyof SettingsOf<Info>> &
    SettingsOf<Info>;
} & { readonly [Name in keyof OwnProviders]?: CommonSettings & OwnProviders[Name] };

type CommonSettings = Given<typeof commonSettings>;

/** A provider that declares no settings has no names for them. */
type SettingsOf<Info extends BuiltInInfo> =
  NonNullable<Info['settings']> extends infer Declared
    ? string extends keyof Declared
      ? unknown
      : Given<Declared>
    : never;

type Given<Declared> = {
  readonly [Name in keyof Declared]?:
    | (Declared[Name] extends Setting<infer Value> ? Value : never)
    | undefined;
};
