import { shellWord } from '../../core/shell-quote.ts';
import type { UpstreamInfo__Output as UpstreamInfo } from '../../protocol/generated/management.ts';

const SEES: Readonly<Record<string, string>> = {
  none: 'nothing of the project',
  read: 'the project, to read',
  write: 'the project, to read and change',
};

/** What a server is, and what a person grants with it. */
export function describeServer(server: UpstreamInfo): string[] {
  const { name, url, hosts, variables, paths, project, header_from: headerFrom, notes } = server;
  return [
    `${name}: ${url === '' ? commandOf(server) : url}`,
    `  reaches: ${hosts.length === 0 ? 'no host' : hosts.join(', ')}`,
    ...(headerFrom === '' ? [] : [`  sends: the credential of ${headerFrom}`]),
    ...(variables.length === 0 ? [] : [`  has the variables: ${variables.join(', ')}`]),
    `  sees: ${[SEES[project] ?? project, ...paths.map(({ path, writable }) => `${path}${writable ? ' (can change it)' : ''}`)].join(', ')}`,
    ...notes.map((note) => `  note: ${note}`),
  ];
}

/** How a server is after it was added or started again. */
export function describeState({
  name,
  state,
  tools,
  waiting,
  tokens,
  last_error: error,
  left_out: leftOut,
}: UpstreamInfo): string[] {
  return [
    state === 'running'
      ? `${name} runs: ${tools} tools, which would take ${tokens} tokens in a list of all tools. Agents find them with tool_browse.`
      : `${name} does not run${error === '' ? '.' : `: ${error}`}`,
    ...(waiting === 0 ? [] : [`${waiting} of its tools wait for your approval: ctxd upstream approve ${name}`]),
    ...leftOut.map((one) => `Left out: ${one}`),
    ...(state === 'running' ? [] : [`See ctxd upstream list ${name}; start it again: ctxd upstream restart ${name}`]),
  ];
}

export function commandOf({ command }: Pick<UpstreamInfo, 'command'>): string {
  return command.map(shellWord).join(' ');
}
