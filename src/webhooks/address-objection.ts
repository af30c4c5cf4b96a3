import { addressKind, forbiddenAs, isAddress } from './address-kind.ts';

/** Why nothing is sent to this host at this address; `undefined`: nothing is in the way. */
export function objection(url: URL, address: string): string | undefined {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // A host that is written as an address needs no second name.
  const named = host === address ? `${url.hostname} is` : `${url.hostname} is ${address},`;
  const what = forbiddenAs(address);
  if (what !== undefined) return `${named} ${what}: no webhook can be there`;
  if (addressKind(address) === 'public' && url.protocol === 'http:') {
    return `${named} a public address: beyond this machine and private networks it has to be https`;
  }
  return undefined;
}

/** The objection to a host that is written as an address: no name has to be looked up. */
export function objectionToHost(url: URL): string | undefined {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return isAddress(host) ? objection(url, host) : undefined;
}
