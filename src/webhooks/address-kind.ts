import type { BlockList } from 'node:net';

/**
 * - `forbidden`: no webhook is ever there: addresses that machines are given by chance, those that tell a cloud machine
 *   its credentials, and those of groups.
 * - `near`: this machine, and networks that are private.
 */
export type AddressKind = 'forbidden' | 'near' | 'public';

/** Loaded when a webhook is named: nearly all programs have none. */
let lists: { readonly forbidden: readonly Forbidden[]; readonly near: BlockList } | undefined;

interface Forbidden {
  readonly what: string;
  readonly list: BlockList;
}

/** The first that fits says what an address is. */
const forbiddenRanges = {
  // AWS, Google, Azure and others; Alibaba, Azure and Oracle; AWS (machines and pods) and Google again.
  'where a cloud tells a machine its credentials': [
    ...['169.254.169.254/32', '100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32'],
    ...['fd00:ec2::/32', 'fd20:ce::254/128'],
  ],
  'a link-local address': ['169.254.0.0/16', 'fe80::/10'],
  'the unspecified address': ['0.0.0.0/8', '::/128'],
  'the address of a group': ['224.0.0.0/4', 'ff00::/8'],
  'a reserved address': ['240.0.0.0/4'],
};

const nearRanges = [
  ...['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10'],
  ...['::1/128', 'fc00::/7'],
];

export function isAddress(text: string): boolean {
  return isIP(text) !== 0;
}

/** What an IP address stands for. An IPv6 address that leads to an IPv4 one counts as that. */
export function addressKind(address: string): AddressKind {
  if (forbiddenAs(address) !== undefined) return 'forbidden';
  const plain = plainAddress(address);
  return loaded().near.check(plain, familyOf(plain)) ? 'near' : 'public';
}

/** What an address is where no webhook can be; `undefined`: one may be there. */
export function forbiddenAs(address: string): string | undefined {
  const plain = plainAddress(address);
  if (!isAddress(plain)) return 'no address';
  return loaded().forbidden.find(({ list }) => list.check(plain, familyOf(plain)))?.what;
}

function plainAddress(address: string): string {
  const plain = address.replace(/^\[|\]$|%.*$/g, '');
  return (isIP(plain) === 6 && innerAddress(plain)) || plain;
}

function familyOf(plain: string): 'ipv4' | 'ipv6' {
  return isIP(plain) === 6 ? 'ipv6' : 'ipv4';
}

function loaded() {
  lists ??= {
    forbidden: Object.entries(forbiddenRanges).map(([what, ranges]) => ({
      what,
      list: blockList(ranges),
    })),
    near: blockList(nearRanges),
  };
  return lists;
}

/** The IPv4 address within an IPv6 one: mapped, compatible, translated (SIIT, NAT64) or tunnelled (6to4). */
function innerAddress(address: string): string | undefined {
  const groups = groupsOf(address);
  const head = groups.slice(0, 6).join(':');
  const isWrapped =
    head === '0:0:0:0:0:ffff' ||
    head === '0:0:0:0:ffff:0' ||
    head === '64:ff9b:0:0:0:0' ||
    // NAT64 of a network's own.
    head.startsWith('64:ff9b:1:') ||
    // `::` and `::1` are addresses of their own.
    (head === '0:0:0:0:0:0' && groups[6] !== '0');
  const pair = isWrapped ? groups.slice(6) : groups[0] === '2002' ? groups.slice(1, 3) : [];
  if (pair.length === 0) return undefined;
  return pair
    .map((group) => Number.parseInt(group, 16))
    .flatMap((group) => [group >> 8, group & 255])
    .join('.');
}

/** The eight groups of an IPv6 address, without leading zeros. */
function groupsOf(address: string): string[] {
  // A URL writes the last 32 bits of every address in groups, too.
  const written = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [left = '', right] = written
    .split('::')
    .map((part) => (part === '' ? [] : part.split(':')));
  const before = left as string[];
  if (right === undefined) return before;
  const zeros = Array.from({ length: 8 - before.length - right.length }, () => '0');
  return [...before, ...zeros, ...right];
}

function blockList(ranges: readonly string[]): BlockList {
  const list = new (net().BlockList)();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
}

function isIP(text: string): number {
  return net().isIP(text);
}

function net(): typeof import('node:net') {
  return process.getBuiltinModule('node:net');
}
