import { isIP } from 'node:net';

/** Whether a host, as it stands in a URL or in a flag, is one by which only this machine is reached. */
export function isThisMachine(host: string): boolean {
  const name = withoutBrackets(host).toLowerCase();
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
}

/** `[::1]`, as it stands in a URL, is the address `::1`. */
export function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}
