import type { HostEntry } from '../orchestrator/capture/router.ts';
import { type Form, isRecord, type ParseContext, readPairs, refuse, refuseUnseen } from './form.ts';
import { parseProviderName } from './providers.ts';

export const hosts: Form<readonly HostEntry[]> = {
  allowed:
    'base URLs with their provider, { "http://127.0.0.1:8000/v1": "openai" }: http or https, ' +
    'without user, password, query and fragment (in text base=provider,base=provider)',
  read: (text) => {
    refuseCredentials(text);
    return readPairs(text, 'last');
  },
  parse: (value, context) => {
    if (!isRecord(value)) refuse(value);
    const entries: HostEntry[] = [];
    for (const [key, provider] of Object.entries(value)) {
      const entry = parseEntry(key, provider, context);
      if (entries.some((other) => sameBase(other, entry))) refuse(key, 'the same base twice');
      entries.push(entry);
    }
    return entries;
  },
};

/** Checks the whole text: after splitting, a password might no longer look like one. */
function refuseCredentials(text: string): void {
  if (/[@?#]/.test(text)) refuseUnseen('it holds a user, a password, a query or a fragment');
}

function parseEntry(key: string, provider: unknown, context: ParseContext): HostEntry {
  refuseCredentials(key);
  const [, scheme] = /^([^/]*):\/\//.exec(key) ?? [];
  if (scheme !== undefined && !/^https?$/i.test(scheme)) refuse(key, 'only http and https');
  const protocol = scheme === undefined ? impliedProtocol(key) : undefined;
  const url = parseUrl(scheme === undefined ? `${protocol ?? 'https:'}//${key}` : key, key);
  return {
    key,
    provider: parseProviderName(provider, context),
    protocol: scheme === undefined ? protocol : (url.protocol as 'http:' | 'https:'),
    host: url.host,
    path: url.pathname.replace(/\/+$/, ''),
  };
}

function parseUrl(url: string, key: string): URL {
  const looksWrong = /[\s*\\]/.test(key) || /^(https?:(?!\/\/)|\/)/i.test(key);
  if (looksWrong || !URL.canParse(url)) refuse(key, 'not a base URL');
  return new URL(url);
}

/** URLs drop the default port of their protocol, so a key with such a port means that protocol. */
function impliedProtocol(key: string): 'http:' | 'https:' | undefined {
  const [, port] = /^[^/]*:(80|443)(?:\/|$)/.exec(key) ?? [];
  if (port === undefined) return undefined;
  return port === '80' ? 'http:' : 'https:';
}

function sameBase(left: HostEntry, right: HostEntry): boolean {
  return left.protocol === right.protocol && left.host === right.host && left.path === right.path;
}
