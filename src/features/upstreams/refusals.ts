import type { Denial } from '../../core/envelope.ts';
import { quoteName } from '../../core/own-line.ts';
import { shellWord } from '../../core/shell-quote.ts';
import type { StoredServer } from '../../stores/upstream-servers.ts';
import type { Refusal } from '../../upstream/start-server.ts';
import type { Network } from '../network/network.ts';
import { describedServer } from './described-server.ts';
import type { UnseenPaths } from './unseen-paths.ts';

/** Why a host is refused that a person can grant by adding the server again. */
export const NOT_GRANTED = 'the MCP server was not granted this host and port';

type Groups = Pick<Network, 'groupOf'>;

/** What a server lacks. */
export interface Lacking {
  /** What the network refused to it. */
  readonly denied: readonly Denial[];
  readonly unseen: UnseenPaths | null;
}

/** What a process of a server lacked, and how a person grants it; null if it lacked nothing that is known. */
export function refusalOf(server: StoredServer, { denied, unseen }: Lacking, groups: Groups): Refusal | null {
  const [first] = denied;
  if (first === undefined && unseen === null) return null;
  const hosts = [...new Set(denied.map(({ host = '' }) => host))].join(', ');
  const what = [
    ...(unseen === null ? [] : [unseenClause(unseen)]),
    ...(first === undefined ? [] : [`the network refused it ${hosts} (${first.rule})`]),
  ].join('; ');
  const command = grantCommand(server, { denied, unseen }, groups);
  if (command !== '') return { what, remedy: `A person who trusts it can allow this: \`${command}\`` };
  // Refusals for other reasons, such as a rule of the project, say themselves what helps.
  const remedy = unseen === null ? first?.how_to_allow : `A person can keep it elsewhere: ${unseen.why}.`;
  return { what, remedy: remedy ?? '' };
}

/** Names of one message. */
const NAMES_MAX = 5;

/** Says which paths the sandbox of a server does not see. */
export function unseenClause({ names }: Pick<UnseenPaths, 'names'>): string {
  const shown = names.slice(0, NAMES_MAX).map(quoteName).join(', ');
  const more = names.length > NAMES_MAX ? ` and ${names.length - NAMES_MAX} more` : '';
  return `its sandbox does not see ${shown}${more}, which its command names`;
}

/** The command that adds the server again with what it had, and what it lacks; '' if that is nothing that can be granted. */
export function grantCommand(server: StoredServer, { denied, unseen }: Lacking, groups: Groups): string {
  const missing = denied.filter(({ rule }) => rule === NOT_GRANTED).map((one) => targetFor(one, groups));
  const seeing = unseen?.seeing ?? null;
  if (missing.length === 0 && seeing === null) return '';
  const { spec, variables } = server;
  const described = describedServer({ ...server, spec: { ...spec, ...seeing } });
  const { name, command, url, header_from: headerFrom, paths, project } = described;
  const own = project === 'none' ? [] : [{ path: server.project, writable: project === 'write' }];
  const words = [
    ...(url === '' ? [] : [url]),
    ...(headerFrom === '' ? [] : ['--header-from', headerFrom]),
    ...listed('--env', Object.keys(variables)),
    ...listed(
      '--path',
      [...own, ...paths].map(({ path, writable }) => (writable ? `${path}:rw` : path)),
    ),
    ...listed('--allow-host', [...new Set([...spec.hosts, ...missing])]),
    ...(url === '' ? ['--', ...command] : []),
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
