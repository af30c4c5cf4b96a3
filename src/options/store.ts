import { posix, resolve, win32 } from 'node:path';
import { isDatabase } from '../base/store-address.ts';
import { type Environment, type Form, refuse, refuseUnseen } from './form.ts';

export const store: Form<string> = {
  allowed: 'the path of a file, ":memory:", or postgres://user@host/database',
  read: (text) => text,
  parse: (value, { environment }) => {
    if (typeof value !== 'string' || value.trim() === '' || value.includes('\0')) {
      return refuse(value);
    }
    if (value === ':memory:') return value;
    if (isDatabase(value))
      return URL.canParse(value) ? value : refuseUnseen('a URL that cannot be read');
    if (/^[a-z][a-z\d+.-]*:\/\//i.test(value)) refuseUnseen('a URL');
    if (/^~(?=$|[\\/])/.test(value)) return resolve(homeFolder(environment), `.${value.slice(1)}`);
    return resolve(value);
  },
};

/** `batchling/ledger.db` in the folder that the system keeps for a user's caches. */
export function defaultStore(
  environment: Environment,
  platform: NodeJS.Platform = process.platform,
): string {
  const { isAbsolute, join } = platform === 'win32' ? win32 : posix;
  const file = ['batchling', 'ledger.db'];
  if (platform === 'darwin')
    return join(homeFolder(environment, platform), 'Library', 'Caches', ...file);
  const folder = environment[platform === 'win32' ? 'LOCALAPPDATA' : 'XDG_CACHE_HOME'];
  // The XDG specification says to ignore a relative path.
  if (folder !== undefined && isAbsolute(folder)) return join(folder, ...file);
  const usual = platform === 'win32' ? ['AppData', 'Local'] : ['.cache'];
  return join(homeFolder(environment, platform), ...usual, ...file);
}

function homeFolder(environment: Environment, platform = process.platform): string {
  const home = environment[platform === 'win32' ? 'USERPROFILE' : 'HOME'];
  if (home !== undefined && home !== '') return home;
  try {
    // The module is not imported at the top because HOME is nearly always set.
    return process.getBuiltinModule('node:os').homedir();
  } catch {
    return refuse(undefined, 'this user has no home folder for the default path');
  }
}
