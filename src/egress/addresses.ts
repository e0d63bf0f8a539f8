import { BlockList, isIP } from 'node:net';

interface Range {
  readonly net: string;
  readonly prefix: number;
  /** Completes "it leads to ADDRESS, …". */
  readonly what: string;
}

/**
 * The addresses to which no name may lead unless a rule names them: what is not on the public internet. The ranges for
 * documentation (192.0.2.0/24, 198.51.100.0/24, 203.0.113.0/24, 2001:db8::/32, 3fff::/20) are not here: no public host has
 * them, and mirrors of isolated networks do.
 */
export const REFUSED_IPV4: readonly Range[] = [
  { net: '0.0.0.0', prefix: 8, what: 'this machine' },
  { net: '10.0.0.0', prefix: 8, what: 'a private network' },
  { net: '100.64.0.0', prefix: 10, what: 'the private network of a provider' },
  { net: '127.0.0.0', prefix: 8, what: 'loopback of this machine' },
  { net: '168.63.129.16', prefix: 32, what: 'a metadata service' },
  { net: '169.254.0.0', prefix: 16, what: 'a link-local or metadata address' },
  { net: '172.16.0.0', prefix: 12, what: 'a private network' },
  { net: '192.0.0.0', prefix: 24, what: 'an address for protocols or metadata' },
  { net: '192.88.99.0', prefix: 24, what: 'a relay for IPv6' },
  { net: '192.168.0.0', prefix: 16, what: 'a private network' },
  { net: '198.18.0.0', prefix: 15, what: 'a network for measurements' },
  { net: '224.0.0.0', prefix: 4, what: 'a multicast address' },
  { net: '240.0.0.0', prefix: 4, what: 'a reserved or broadcast address' },
];

/** Within the public part of IPv6 (2000::/3). Everything outside it is refused, see `OUTSIDE_IPV6` for the words. */
export const REFUSED_IPV6: readonly Range[] = [
  { net: '2001::', prefix: 23, what: 'an address for protocols or tunnels' },
  { net: '2002::', prefix: 16, what: 'a tunnel to IPv4' },
];

/** Named for the message only: none of them is in 2000::/3. */
const OUTSIDE_IPV6: readonly Range[] = [
  { net: '::', prefix: 128, what: 'this machine' },
  { net: '::1', prefix: 128, what: 'loopback of this machine' },
  { net: '::ffff:0:0', prefix: 96, what: 'an IPv4 address in IPv6' },
  { net: 'fc00::', prefix: 7, what: 'a private network' },
  { net: 'fe80::', prefix: 10, what: 'a link-local address' },
  { net: 'ff00::', prefix: 8, what: 'a multicast address' },
];

/** NAT64 (RFC 6052): the last 32 bits are an IPv4 address. Its ranges hold there too; the others are public. */
const NAT64 = { net: '64:ff9b::', prefix: 96 } as const;
const EMBEDDED: readonly Range[] = REFUSED_IPV4.map(({ net, prefix, what }) => ({
  net: `${NAT64.net}${net}`,
  prefix: NAT64.prefix + prefix,
  what,
}));

const publicIpv6 = new BlockList();
publicIpv6.addSubnet('2000::', 3, 'ipv6');
publicIpv6.addSubnet(NAT64.net, NAT64.prefix, 'ipv6');

const refusedIpv4 = REFUSED_IPV4.map((range) => ({ what: range.what, list: listOf(range, 'ipv4') }));
const refusedIpv6 = [...REFUSED_IPV6, ...EMBEDDED, ...OUTSIDE_IPV6].map((range) => ({
  what: range.what,
  list: listOf(range, 'ipv6'),
}));

/** What the address is, if it is not public; null if it is. */
export function notPublic(address: string): string | null {
  switch (isIP(address)) {
    case 4:
      return refusedIpv4.find(({ list }) => list.check(address, 'ipv4'))?.what ?? null;
    case 6:
      return notPublicIpv6(address);
    default:
      return 'not an address';
  }
}

/** The same text for equal addresses; null if the text is not an address. */
export function normalAddress(text: string): string | null {
  if (text.includes('%') || text.includes('/')) return null;
  switch (isIP(text)) {
    case 4:
      return text;
    case 6:
      return new URL(`http://[${text}]`).hostname.slice(1, -1);
    default:
      return null;
  }
}

function notPublicIpv6(address: string): string | null {
  // A zone (`fe80::1%eth0`) belongs to link-local addresses.
  if (address.includes('%')) return 'a link-local address';
  const range = refusedIpv6.find(({ list }) => list.check(address, 'ipv6'));
  if (range !== undefined) return range.what;
  return publicIpv6.check(address, 'ipv6') ? null : 'not a public address';
}

function listOf({ net, prefix }: Range, family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  list.addSubnet(net, prefix, family);
  return list;
}
