import type { Denial } from '../../core/envelope.ts';
import { shellWord } from '../../core/shell-quote.ts';
import type { StoredServer } from '../../stores/upstream-servers.ts';
import type { RefusedHosts } from '../../upstream/start-server.ts';
import type { Network } from '../network/network.ts';

/** Why a host is refused that a person can grant by adding the server again. */
export const NOT_GRANTED = 'the MCP server was not granted this host and port';

type Groups = Pick<Network, 'groupOf'>;

/** What the network refused to a process of a server, and how a person grants it; null if it refused nothing. */
export function refusedHosts(server: StoredServer, denied: readonly Denial[], groups: Groups): RefusedHosts | null {
  const [first] = denied;
  if (first === undefined) return null;
  const hosts = [...new Set(denied.map(({ host = '' }) => host))].join(', ');
  const command = grantCommand(server, denied, groups);
  // Refusals for other reasons, such as a rule of the project, say themselves what helps.
  const remedy = command === '' ? first.how_to_allow : `A person who trusts it can allow this: \`${command}\``;
  return { what: `the network refused it ${hosts} (${first.rule})`, remedy };
}

/** The command that adds the server again with what it had, and the hosts that it was not granted; '' if no host is missing. */
export function grantCommand(server: StoredServer, denied: readonly Denial[], groups: Groups): string {
  const missing = denied.filter(({ rule }) => rule === NOT_GRANTED).map((one) => targetFor(one, groups));
  if (missing.length === 0) return '';
  const { name, spec, variables, project } = server;
  const own = spec.project === 'none' ? [] : [{ path: project, isWritable: spec.project === 'write' }];
  const paths = [...own, ...spec.paths].map(({ path, isWritable }) => (isWritable ? `${path}:rw` : path));
  const words = [
    ...(spec.url === '' ? [] : [spec.url]),
    ...(spec.usesCredential ? ['--header-from', new URL(spec.url).host] : []),
    ...listed('--env', Object.keys(variables)),
    ...listed('--path', paths),
    ...listed('--allow-host', [...new Set([...spec.hosts, ...missing])]),
    ...(spec.url === '' ? ['--', ...spec.command] : []),
  ];
  return `ctxd upstream add ${[name, ...words].map(shellWord).join(' ')}`;
}

function listed(option: string, values: readonly string[]): string[] {
  return values.length === 0 ? [] : [option, ...values];
}

/** The group that has the host, or the host as a rule names it. */
function targetFor({ host = '', port }: Denial, { groupOf }: Groups): string {
  const isOfWeb = port === undefined || port === 443;
  return groupOf(host, port) ?? (isOfWeb ? host : `${host}:${port}`);
}
