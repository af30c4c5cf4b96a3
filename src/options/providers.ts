import { limitSettings } from '../batchers/limit-settings.ts';
import type { ProviderInfo, Setting, Settings } from '../batchers/provider-info.ts';
import type { BatcherClass } from '../batchers/registry.ts';
import type { CredentialFunction } from '../orchestrator/capture/credentials.ts';
import { type Form, isRecord, type ParseContext, refuse, refuseUnseen } from './form.ts';
import { nearest } from './nearest.ts';
import { looksSecret, show } from './shown-value.ts';

/** Settings of every provider. */
export const commonSettings = {
  cancelAtDeadline: {
    help: 'cancel at a deadline, or for `onSlow`, although cancelling loses answers that are paid for',
    allowed: 'true or false',
    parse: (value) => (typeof value === 'boolean' ? value : undefined),
  } satisfies Setting<boolean>,
  credential: {
    help: 'asked for a token before every request to the provider',
    allowed: 'a function that returns a token, or a promise of one',
    parse: (value) => (typeof value === 'function' ? (value as CredentialFunction) : undefined),
  } satisfies Setting<CredentialFunction>,
  ...limitSettings,
};

export function parseProviderName(value: unknown, context: ParseContext): string {
  if (typeof value !== 'string') return refuse(value, 'not a provider name');
  const known = context.knownProviders();
  return known.includes(value) ? value : refuse(value, unknownProvider(value, known));
}

export function unknownProvider(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  return meant === undefined
    ? `not a provider name; they are ${known.join(', ')}`
    : `not a provider name; did you mean "${meant}"?`;
}

export const providers: Form<Readonly<Record<string, Settings>>> = {
  allowed: 'an object of settings by provider name, { azure: { … } }',
  parse: (value, context) => {
    if (!isRecord(value)) refuseUnseen();
    const settings: Record<string, Settings> = {};
    for (const [name, given] of Object.entries(value)) {
      parseProviderName(name, context);
      if (!isRecord(given)) refuseUnseen(`the settings of ${name} must be an object`);
      settings[name] = parseSettings(name, given, context.infoOf(name));
    }
    return settings;
  },
};

function parseSettings(
  provider: string,
  given: Readonly<Record<string, unknown>>,
  info: ProviderInfo | undefined,
): Settings {
  const declared: Readonly<Record<string, Setting>> = { ...commonSettings, ...info?.settings };
  const settings: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const setting = Object.hasOwn(declared, name) ? declared[name] : undefined;
    if (setting === undefined) return refuseSetting(provider, name, declared);
    const parsed = setting.parse(value);
    if (parsed === undefined) {
      refuse(value, `${provider}.${name} must be ${setting.allowed}`);
    }
    settings[name] = parsed;
  }
  return settings;
}

function refuseSetting(
  provider: string,
  name: string,
  declared: Readonly<Record<string, Setting>>,
): never {
  const names = Object.keys(declared);
  const meant = nearest(name, names);
  const advice = meant === undefined ? `they are ${names.join(', ')}` : `did you mean "${meant}"?`;
  return refuse(name, `not a setting of ${provider}; ${advice}`);
}

export const batchers: Form<readonly BatcherClass[]> = {
  allowed: 'an array of Batcher classes (the classes, not instances)',
  parse: (value) => {
    if (!Array.isArray(value)) return refuse(value);
    for (const [index, entry] of value.entries()) {
      if (typeof entry !== 'function' || entry.prototype === undefined) {
        refuse(entry, `at index ${index}`);
      }
    }
    infosOfBatchers(value);
    return [...value];
  },
};

/** Asks each class for its facts, which only an instance knows. */
export function infosOfBatchers(classes: readonly BatcherClass[]): ProviderInfo[] {
  return classes.map((Class) => {
    let info: ProviderInfo;
    try {
      info = new Class().info;
      void info.name;
    } catch (error) {
      const reason = error instanceof Error && !looksSecret(error.message) ? error.message : '';
      return refuse(Class, `${show(Class.name)} cannot be used: ${reason}`);
    }
    if (typeof info.name !== 'string') refuse(Class, `${show(Class.name)} has no info.name`);
    const missing = listsOfInfo.find((list) => !Array.isArray(info[list]));
    if (missing !== undefined) refuse(Class, `${show(Class.name)} has no list info.${missing}`);
    return info;
  });
}

/** Without them no request can be told to be a batcher's own. */
const listsOfInfo = [
  ...(['hosts', 'roots', 'versions', 'endpoints'] as const),
  ...(['credentialHeaders', 'accountHeaders', 'environment'] as const),
];
