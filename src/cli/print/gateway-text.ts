import { networkInterfaces } from 'node:os';
import { shownStore } from '../../base/store-address.ts';
import type { Gateway, GatewayOptions } from '../../gateway/gateway.ts';
import { resolveOptions } from '../../options/index.ts';

export function gatewayJson(gateway: Gateway): string {
  const bases = Object.entries(gateway.baseUrls).map(([provider, url]) => [provider, usable(url)]);
  const facts = {
    url: usable(gateway.url),
    ui: usable(gateway.pageUrl),
    store: shownStore(resolveOptions({}).store),
  };
  return `${JSON.stringify({ ...facts, ...Object.fromEntries(bases) })}\n`;
}

export function gatewayText(gateway: Gateway, { token, credentials }: GatewayOptions): string {
  const bases = Object.entries(gateway.baseUrls).map(([name, url]) => [name, usable(url)] as const);
  const url = usable(gateway.url);
  const place = url === gateway.url ? url : `all addresses of this machine, such as ${url}`;
  const own = credentials && new Set(credentials.keys());
  const shown = own ? bases.filter(([provider]) => own.has(provider)) : bases;
  const width = Math.max(0, ...shown.map(([provider]) => provider.length));
  return [
    `The gateway listens on ${place}. Base URLs for SDKs:`,
    '',
    ...shown.map(([provider, base]) => `  ${provider.padEnd(width)}  ${base}`),
    '',
    `The ledger is ${shownStore(resolveOptions({}).store)}.`,
    own ? 'API keys are those of the gateway.' : 'Clients bring their API keys.',
    token === undefined
      ? 'It is for programs on this machine.'
      : 'Every request needs the header x-batchling-token.',
    `Its page: ${usable(gateway.pageUrl)}${token === undefined ? '' : ' (it asks for the token)'}`,
    `How it is: ${url}/healthz and ${url}/metrics. Stop it with Ctrl-C.`,
    '',
  ].join('\n');
}

/** No client can be given the address that stands for all: one of this machine is shown in its place. */
export function usable(url: string): string {
  const all = /^(http:\/\/)(?:0\.0\.0\.0|\[::\])(?=:)/;
  if (!all.test(url)) return url;
  const addresses = Object.values(networkInterfaces()).flatMap((some) => some ?? []);
  const reached = addresses.find(({ family, internal }) => family === 'IPv4' && !internal);
  return url.replace(all, `$1${reached?.address ?? '127.0.0.1'}`);
}
