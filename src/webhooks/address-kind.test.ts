import { expect, it } from 'vitest';
import { addressKind } from './address-kind.ts';
import { objectionToHost } from './address-objection.ts';
import { checkedLookup } from './checked-lookup.ts';

it.each([
  ['169.254.169.254', 'forbidden'],
  ['169.254.0.1', 'forbidden'],
  ['::ffff:169.254.169.254', 'forbidden'],
  ['::ffff:a9fe:a9fe', 'forbidden'],
  ['::169.254.169.254', 'forbidden'],
  ['64:ff9b::169.254.169.254', 'forbidden'],
  ['2002:a9fe:a9fe::1', 'forbidden'],
  ['fe80::1', 'forbidden'],
  ['fe80::1%eth0', 'forbidden'],
  ['febf::1', 'forbidden'],
  ['::ffff:0:169.254.169.254', 'forbidden'],
  ['64:ff9b:1::169.254.169.254', 'forbidden'],
  ['64:ff9b:1:abcd::169.254.169.254', 'forbidden'],
  ['fd00:ec2::254', 'forbidden'],
  ['fd00:ec2::23', 'forbidden'],
  ['fd20:ce::254', 'forbidden'],
  ['100.100.100.200', 'forbidden'],
  ['0.0.0.0', 'forbidden'],
  ['::', 'forbidden'],
  ['255.255.255.255', 'forbidden'],
  ['ff02::1', 'forbidden'],
  ['not an address', 'forbidden'],
  ['127.0.0.1', 'near'],
  ['::1', 'near'],
  ['::ffff:127.0.0.1', 'near'],
  ['10.1.2.3', 'near'],
  ['192.168.1.1', 'near'],
  ['fd12:3456::1', 'near'],
  ['93.184.216.34', 'public'],
  ['2606:2800:220:1:248:1893:25c8:1946', 'public'],
  ['64:ff9b::8.8.8.8', 'public'],
  ['64:ff9b:1::10.1.2.3', 'near'],
] as const)('%s is %s', (address, kind) => {
  expect(addressKind(address)).toBe(kind);
});

it.each([
  'http://169.254.169.254/latest/meta-data',
  'http://2852039166/',
  'http://0xa9fea9fe/',
  'https://[fe80::1]/',
  'http://93.184.216.34/',
])('nothing is sent to %s', (url) => {
  expect(objectionToHost(new URL(url))).toBeTypeOf('string');
});

const found = (...addresses: string[]) =>
  ((_name: string, _options: unknown, told: (...all: unknown[]) => void) => {
    told(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  }) as never;

function look(url: string, all: boolean, ...addresses: string[]) {
  return new Promise((resolve, reject) => {
    const lookUp = checkedLookup(new URL(url), found(...addresses));
    lookUp(new URL(url).hostname, { all }, (error, given) =>
      error ? reject(error) : resolve(given),
    );
  });
}

it('a name is connected to where it was looked up, if nothing is wrong with any of its addresses', async () => {
  expect(await look('https://a.example/', false, '93.184.216.34')).toBe('93.184.216.34');
  const both = ['93.184.216.34', '10.0.0.1'];
  expect(await look('https://a.example/', true, ...both)).toHaveLength(2);
  await expect(
    look('https://a.example/', true, '93.184.216.34', '169.254.169.254'),
  ).rejects.toThrow(
    'a.example is 169.254.169.254, where a cloud tells a machine its credentials: no webhook can be there',
  );
  await expect(look('http://a.example/', true, ...both)).rejects.toThrow('it has to be https');
  expect(await look('http://a.example/', false, '10.0.0.1')).toBe('10.0.0.1');
  await expect(look('https://a.example/', true)).rejects.toThrow('has no address');
});
