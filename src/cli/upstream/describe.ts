import { shellWord } from '../../core/shell-quote.ts';
import type { UpstreamInfo__Output as UpstreamInfo } from '../../protocol/generated/management.ts';

const SEES: Readonly<Record<string, string>> = {
  none: 'nothing of the project',
  read: 'the project, to read',
  write: 'the project, to read and change',
};

/** What a server is, and what a person grants with it. */
export function describeServer(server: UpstreamInfo): string[] {
  if (server.catalog !== '') return [`${server.name}: ${sourceOf(server)}`, `  offers: ${offersOf(server)}`];
  const { name, hosts, variables, paths, project, header_from: headerFrom, notes } = server;
  return [
    `${name}: ${sourceOf(server)}`,
    `  reaches: ${hosts.length === 0 ? 'no host' : hosts.join(', ')}`,
    ...(headerFrom === '' ? [] : [`  sends: the credential of ${headerFrom}`]),
    ...(variables.length === 0 ? [] : [`  has the variables: ${variables.join(', ')}`]),
    `  sees: ${[SEES[project] ?? project, ...paths.map(({ path, writable }) => `${path}${writable ? ' (can change it)' : ''}`)].join(', ')}`,
    ...notes.map((note) => `  note: ${note}`),
  ];
}

/** How a server is after it was added or started again. */
export function describeState(server: UpstreamInfo): string[] {
  const { name, state, waiting, left_out: leftOut } = server;
  return [
    stateLine(server),
    ...(waiting === 0
      ? []
      : [
          `${counted(waiting, 'definition')} ${waiting === 1 ? 'waits' : 'wait'} for your approval: ctxd upstream approve ${name}`,
        ]),
    ...leftOut.map((one) => `Left out: ${one}`),
    ...grantLines(server),
    ...(state === 'running' || state === 'catalogue'
      ? []
      : [`See ctxd upstream list ${name}; start it again: ctxd upstream restart ${name}`]),
  ];
}

/** How a person grants what the server lacks. */
export function grantLines({ to_grant: command }: Pick<UpstreamInfo, 'to_grant'>): string[] {
  return command === '' ? [] : [`To grant what it lacks: ${command}`];
}

function stateLine(server: UpstreamInfo): string {
  const { name, state, tools, tokens, last_error: error } = server;
  const more = primitivesOf(server)
    .map((one) => `, ${one}`)
    .join('');
  if (state === 'catalogue') return `${name} is a catalogue file: ${offersOf(server)}. It runs nothing.`;
  if (state !== 'running') return `${name} does not run${error === '' ? '.' : `: ${error}`}`;
  return `${name} runs: ${counted(tools, 'tool')}, which would take ${tokens} tokens in a list of all tools${more}. Agents find them with tool_browse.`;
}

function offersOf({ tools, resources, prompts }: UpstreamInfo): string {
  return [counted(tools, 'tool'), ...primitivesOf({ resources, prompts })].join(', ');
}

function primitivesOf({ resources, prompts }: Pick<UpstreamInfo, 'resources' | 'prompts'>): string[] {
  return [
    ...(resources === 0 ? [] : [counted(resources, 'resource')]),
    ...(prompts === 0 ? [] : [counted(prompts, 'prompt')]),
  ];
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** Where what it offers comes from. */
export function sourceOf({ command, url, catalog }: Pick<UpstreamInfo, 'command' | 'url' | 'catalog'>): string {
  return catalog || url || command.map(shellWord).join(' ');
}
