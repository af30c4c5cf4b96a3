import { isObject, type JsonObject } from '../server/json.ts';
import {
  defaultSettings,
  type SimulatorSettings,
  type SimulatorSettingsChange,
} from './settings.ts';
import { checkFlexTier } from './tiers/flex-settings.ts';
import { checkCacheSettings } from './usage/cache-settings.ts';
import { checkUsage } from './usage/usage.ts';

/** Changes arrive over HTTP too, so every field is checked before any is applied. */
export function changeSettings(settings: SimulatorSettings, change: unknown): void {
  const fields = asObject('settings', change);
  for (const [name, value] of Object.entries(fields)) checkField(name, value);
  const { speed, limits, flex, promptCache, ...plain } = fields as SimulatorSettingsChange;
  Object.assign(settings, withoutUndefined(plain));
  Object.assign(settings.speed, withoutUndefined(speed ?? {}));
  Object.assign(settings.promptCache, withoutUndefined(promptCache ?? {}));
  for (const [provider, ofProvider] of Object.entries(limits ?? {})) {
    settings.limits[provider] = { ...settings.limits[provider], ...ofProvider };
  }
  for (const [provider, tier] of Object.entries(flex ?? {})) {
    settings.flex[provider] = { ...settings.flex[provider], ...tier };
  }
}

function checkField(name: string, value: unknown): void {
  if (value === undefined) return;
  const known: JsonObject = { ...defaultSettings() };
  if (!(name in known)) throw new TypeError(`Unknown simulator setting '${name}'`);
  if (name === 'answer') {
    if (value === null || typeof value === 'function') return;
    throw new TypeError(`Simulator setting 'answer' must be a function or null: ${value}`);
  } else if (name === 'usage') {
    if (value === null || typeof value === 'function') return;
    checkUsage(asObject(name, value));
  } else if (name === 'promptCache') {
    checkCacheSettings(name, asObject(name, value));
  } else if (name === 'models') {
    if (value === null || isListOfTexts(value)) return;
    throw new TypeError(`Simulator setting 'models' must be a list of names or null: ${value}`);
  } else if (name === 'webhook') {
    if (value === null) return;
    const { url, secret } = asObject(name, value);
    if (typeof url === 'string' && typeof secret === 'string') return;
    throw new TypeError(`Simulator setting 'webhook' must be { url, secret } or null: ${value}`);
  } else if (name === 'speed') {
    checkNumbers(name, value, Object.keys(known.speed as object));
  } else if (name === 'limits') {
    for (const [provider, limits] of Object.entries(asObject(name, value))) {
      checkNumbers(`limits.${provider}`, limits, limitNames);
    }
  } else if (name === 'flex') {
    for (const [provider, tier] of Object.entries(asObject(name, value))) {
      checkFlexTier(`flex.${provider}`, asObject(`flex.${provider}`, tier));
    }
  } else if (typeof value !== typeof known[name]) {
    throw new TypeError(`Simulator setting '${name}' must be a ${typeof known[name]}: ${value}`);
  } else if (typeof value === 'number') {
    checkNumber(name, value);
  }
}

const limitNames = [
  'requestsPerBatch',
  'leastRequestsPerBatch',
  'bytesPerBatch',
  'enqueuedTokens',
  'embeddingInputsPerBatch',
  'queuedRequests',
  'createsPerHour',
  'requestsPerMinute',
  'files',
  'retryAfterSeconds',
];

function checkNumbers(name: string, value: unknown, allowed: string[]): void {
  for (const [key, number] of Object.entries(asObject(name, value))) {
    if (!allowed.includes(key)) throw new TypeError(`Unknown simulator setting '${name}.${key}'`);
    if (number !== undefined) checkNumber(`${name}.${key}`, number);
  }
}

function checkNumber(name: string, value: unknown): void {
  if (typeof value !== 'number' || Number.isNaN(value) || value < 0) {
    throw new TypeError(`Simulator setting '${name}' must be a number from 0 up: ${value}`);
  }
}

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function asObject(name: string, value: unknown): JsonObject {
  if (!isObject(value)) throw new TypeError(`Simulator ${name} must be an object: ${value}`);
  return value;
}

function withoutUndefined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
