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

/** The protocol of a base whose user may have named none: plain HTTP is for servers on this machine only. */
export function protocolOf({
  protocol,
  host,
}: {
  readonly protocol: string | undefined;
  readonly host: string;
}): string {
  return protocol ?? (isThisMachine(host.replace(/:\d+$/, '')) ? 'http:' : 'https:');
}
