import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { normalAddress, notPublic } from '../../egress/addresses.ts';

/** Private networks in which a company's mirror can be, and the metadata services in them. */
const NETWORKS = [
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['fc00::', 7, 'ipv6'],
] as const;
const METADATA = ['100.100.100.200', 'fd00:ec2::254', 'fd20:ce::254'];

const networks = new BlockList();
for (const [net, prefix, family] of NETWORKS) networks.addSubnet(net, prefix, family);

/** The addresses of this machine's interfaces. */
export function ownAddresses(): ReadonlySet<string> {
  const all = Object.values(networkInterfaces()).flatMap((interfaces) => interfaces ?? []);
  return new Set(all.flatMap(({ address }) => normalAddress(address) ?? []));
}

/**
 * What an address is that no mirror has which serves more than this machine: loopback, link-local, metadata, or one of
 * the machine's own. Null for a public address and for one of a private network.
 */
export function localKind(address: string, own: ReadonlySet<string>): string | null {
  const normal = normalAddress(address);
  if (normal === null) return notPublic(address);
  if (own.has(normal)) return notPublic(normal) ?? 'an address of this machine';
  // A BlockList reads an IPv4 address in IPv6 as this IPv4 address.
  if (normal.startsWith('::ffff:')) return notPublic(normal);
  if (METADATA.includes(normal)) return 'a metadata service';
  return networks.check(normal, isIP(normal) === 4 ? 'ipv4' : 'ipv6') ? null : notPublic(normal);
}
