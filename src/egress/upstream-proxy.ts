import { BlockList, isIP } from 'node:net';
import type { EgressSettings } from './messages.ts';

/** The machine's own proxy, which leads to the internet where nothing else does. */
export interface UpstreamProxy {
  readonly host: string;
  readonly port: number;
  /** The value of Proxy-Authorization; null: it asks for none. */
  readonly authorization: string | null;
  /** True if a host at one of these addresses (none, if its name does not resolve here) is reached without it. */
  bypasses(host: string, port: number, addresses: readonly string[]): boolean;
}

export type UpstreamCheck = { readonly proxy: UpstreamProxy | null; readonly fault: string | null };

export function readUpstream(settings: EgressSettings['upstream']): UpstreamCheck {
  if (settings === null) return { proxy: null, fault: null };
  const url = URL.canParse(settings.url) ? new URL(settings.url) : null;
  if (url === null || url.protocol !== 'http:' || url.hostname === '')
    return { proxy: null, fault: "the machine's proxy is not an address such as http://proxy.example.com:3128" };
  const bypass = settings.noProxy.map(readBypass);
  const credentials = `${decode(url.username)}:${decode(url.password)}`;
  return {
    fault: null,
    proxy: {
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: Number(url.port || 80),
      authorization: credentials === ':' ? null : `Basic ${Buffer.from(credentials).toString('base64')}`,
      bypasses: (host, port, addresses) => bypass.some((matches) => matches(host, port, addresses)),
    },
  };
}

type Bypass = (host: string, port: number, addresses: readonly string[]) => boolean;

/** An entry of NO_PROXY as curl and Go read it: `*`, a name with all below it, an address or a network; with a port or not. */
function readBypass(entry: string): Bypass {
  const text = entry.trim().toLowerCase();
  if (text === '*') return () => true;
  const network = readNetwork(text);
  if (network !== null) return (_host, _port, addresses) => addresses.some((address) => isIn(network, address));
  const [, name = '', digits] = /^\*?\.?([^:]*)(?::(\d+))?$/.exec(text) ?? [];
  if (name === '') return () => false;
  const onPort = digits === undefined ? null : Number(digits);
  return (host, port) => (onPort === null || onPort === port) && (host === name || host.endsWith(`.${name}`));
}

function readNetwork(text: string): BlockList | null {
  const [address = '', digits] = text.replace(/^\[|\]$/g, '').split('/');
  const version = isIP(address);
  const family = version === 4 ? 'ipv4' : 'ipv6';
  const prefix = digits === undefined ? (version === 4 ? 32 : 128) : Number(digits);
  if (version === 0 || !Number.isInteger(prefix) || prefix < 0 || prefix > (version === 4 ? 32 : 128)) return null;
  const list = new BlockList();
  list.addSubnet(address, prefix, family);
  return list;
}

function isIn(network: BlockList, address: string): boolean {
  return isIP(address) !== 0 && network.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
