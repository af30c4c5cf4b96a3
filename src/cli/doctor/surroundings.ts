import { findConfig } from '../../options/config/find-config.ts';
import type { Environment } from '../../options/form.ts';
import type { Finding } from './finding.ts';

const proxyVariables = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'];

/** Proxies and the config file. Of a proxy only the host is shown: its URL may hold a password. */
export function surroundings(environment: Environment, folder: string): Finding[] {
  const proxies = proxyVariables.filter((name) => environment[name]);
  const config = findConfig(folder);
  return [
    ...(proxies.length === 0
      ? [{ level: 'ok', about: 'proxy', text: 'none' } as const]
      : proxies.map((name) => proxy(name, environment[name] as string))),
    { level: 'ok', about: 'config', text: config ?? `no batchling.config file in ${folder}` },
  ];
}

function proxy(name: string, value: string): Finding {
  if (URL.canParse(value)) {
    return { level: 'ok', about: 'proxy', text: `${name}: ${new URL(value).host}` };
  }
  const advice = `Set ${name} to a URL such as http://proxy.example:3128, or unset it.`;
  return { level: 'bad', about: 'proxy', text: `${name} is not the URL of a proxy`, advice };
}
