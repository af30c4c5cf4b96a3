import type { BatcherClass } from '../batchers/registry.ts';
import { type Form, isRecord, type ParseContext, refuse, refuseUnseen } from './form.ts';
import { nearest } from './nearest.ts';
import { looksSecret, show } from './show.ts';

/** What `providers` holds: settings by provider name. */
export type ProviderSettings = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

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

export const providers: Form<ProviderSettings> = {
  allowed: 'an object of settings by provider name, { azure: { … } }',
  parse: (value, context) => {
    if (!isRecord(value)) refuseUnseen();
    const settings: Record<string, Readonly<Record<string, unknown>>> = {};
    for (const [name, given] of Object.entries(value)) {
      parseProviderName(name, context);
      if (!isRecord(given)) refuseUnseen(`the settings of ${name} must be an object`);
      const { cancelAtDeadline } = given;
      if (cancelAtDeadline !== undefined && typeof cancelAtDeadline !== 'boolean') {
        refuseUnseen(`cancelAtDeadline of ${name} must be true or false`);
      }
      settings[name] = { ...given };
    }
    return settings;
  },
};

export const batchers: Form<readonly BatcherClass[]> = {
  allowed: 'an array of Batcher classes (the classes, not instances)',
  parse: (value) => {
    if (!Array.isArray(value)) return refuse(value);
    for (const [index, entry] of value.entries()) {
      if (typeof entry !== 'function' || entry.prototype === undefined) {
        refuse(entry, `at index ${index}`);
      }
    }
    return [...value];
  },
};

/** Asks each class for its name, which only an instance knows. */
export function namesOfBatchers(classes: readonly BatcherClass[]): string[] {
  return classes.map((Class) => {
    let name: unknown;
    try {
      name = new Class().info.name;
    } catch (error) {
      const reason = error instanceof Error && !looksSecret(error.message) ? error.message : '';
      return refuse(Class, `${show(Class.name)} cannot be used: ${reason}`);
    }
    return typeof name === 'string' ? name : refuse(Class, `${show(Class.name)} has no info.name`);
  });
}
