import { posix } from 'node:path';
import { ContextdError } from '../../core/errors.ts';
import { isWithin } from '../../core/paths.ts';
import { hostGroup } from '../../egress/groups.ts';
import { parsePattern } from '../../egress/rules.ts';
import type { NewUpstream__Output as NewUpstream } from '../../protocol/generated/management.ts';
import type { ServerSpec, StoredServer } from '../../stores/upstream-servers.ts';
import { parseCatalogueFile } from '../../upstream/catalogue-file.ts';
import { NAMESPACES } from '../routing/tool-catalogues.ts';
import { placeOf, targetOf as targetOfUrl } from './server-place.ts';

const NAME = /^[a-z][a-z0-9_-]{0,31}$/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const ACCESS = ['none', 'read', 'write'] as const;

/** The server or catalogue file that a person described. Throws ARGS_INVALID, NOT_FOUND, PATH_INVALID and PAYLOAD_TOO_LARGE. */
export async function readServer(request: NewUpstream, nowMs: number): Promise<StoredServer> {
  const { root, name, command, url, header_from: headerFrom, by } = request;
  checkName(name);
  if (request.catalog !== '') return readCatalogue(request, nowMs);
  if ((command.length === 0) === (url === ''))
    throw invalid(
      'a server is either a command or a URL',
      'Write `ctxd upstream add NAME -- COMMAND…` or `ctxd upstream add NAME URL`.',
    );
  if (command[0] === '') throw invalid('the command has no program', 'Name a program.');
  if (url !== '') checkUrl(url);
  if (headerFrom !== '') checkHeader(url, headerFrom);
  const project = ACCESS.find((one) => one === request.project);
  if (project === undefined) throw invalid(`${request.project} is no access`, `Use ${ACCESS.join(', ')}.`);
  const variables = request.variables.map(({ name: variable, value }) => [checkVariable(variable), value] as const);
  const spec: ServerSpec = {
    command,
    url,
    usesCredential: headerFrom !== '',
    hosts: [...new Set(request.hosts.map(targetOf))].sort(),
    paths: request.paths.map(({ path, writable }) => ({ path: checkPath(path, root), isWritable: writable })),
    project,
    ...(url !== '' || request.directory === '' || request.directory === root
      ? {}
      : { directory: checkDirectory(request.directory) }),
  };
  return {
    project: root,
    name,
    spec,
    variables: Object.fromEntries(variables),
    addedMs: nowMs,
    givenBy: by,
    accepted: null,
    seen: [],
  };
}

/** The request with the values that the server of its name has. Throws ARGS_INVALID if it has none. */
export function withKept(request: NewUpstream, servers: readonly StoredServer[]): NewUpstream {
  const before = servers.find(({ name }) => name === request.name)?.variables ?? {};
  const variables = request.variables.map(({ name, value, kept }) => {
    if (!kept) return { name, value, kept };
    const known = Object.hasOwn(before, name) ? before[name] : undefined;
    if (known === undefined)
      throw invalid(
        `the variable ${name} is not set in this shell`,
        'Set it, or leave out --env. A secret is never an argument.',
      );
    return { name, value: known, kept: false };
  });
  return { ...request, variables };
}

async function readCatalogue(request: NewUpstream, nowMs: number): Promise<StoredServer> {
  const { root, name, command, url, variables, hosts, paths, project, header_from: headerFrom, by, catalog } = request;
  const lists = [command, variables, hosts, paths];
  if (url !== '' || headerFrom !== '' || project !== 'none' || lists.some((list) => list.length > 0))
    throw invalid(
      'a catalogue file runs nothing, so it gets nothing',
      'Write `ctxd upstream add NAME --catalog FILE`.',
    );
  const { tools, leftOut, answers } = await parseCatalogueFile(request.catalog_json);
  const catalogue = { path: catalog, answers, leftOut };
  return {
    project: root,
    name,
    spec: { command: [], url: '', usesCredential: false, hosts: [], paths: [], project: 'none', catalogue },
    variables: {},
    addedMs: nowMs,
    givenBy: by,
    accepted: null,
    seen: tools,
  };
}

function checkName(name: string): void {
  if (!NAME.test(name))
    throw invalid(
      `${JSON.stringify(name.slice(0, 64))} is not a name for a server`,
      'Use 1 to 32 of a-z, 0-9, _ and -, beginning with a letter.',
    );
  if (Object.values<string>(NAMESPACES).includes(name))
    throw invalid(`${name} is the namespace of tools that contextd runs itself`, 'Use another name.');
}

function checkUrl(text: string): void {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hash !== '')
    throw invalid(`${JSON.stringify(text.slice(0, 200))} is not the URL of a server`, 'Write https://HOST/PATH.');
  if (url.username !== '' || url.password !== '')
    throw invalid(
      'a secret does not belong into a URL',
      `Bind it to the host: ctxd network credential add ${url.host} --from env:NAME, and pass --header-from ${url.host}.`,
    );
  const { why } = parsePattern(url.port === '' ? url.hostname : url.host, 'allow');
  if (why !== null) throw new ContextdError('ARGS_INVALID', why);
}

function checkHeader(url: string, headerFrom: string): void {
  const place = placeOf(url);
  if (place === null)
    throw invalid('--header-from is for a server with a URL', 'Pass a secret to a command with --env NAME.');
  if (!url.startsWith('https:'))
    throw invalid('a credential is sent over https only', 'Use the https URL of the server.');
  const own = targetOfUrl(url);
  if (headerFrom !== own)
    throw invalid(
      `the credential of ${headerFrom} goes to ${headerFrom} only, not to ${own}`,
      `Pass --header-from ${own}.`,
    );
}

function checkVariable(name: string): string {
  if (VARIABLE.test(name)) return name;
  throw invalid(`${JSON.stringify(name.slice(0, 64))} is not the name of a variable`, 'Use letters, digits and _.');
}

/** A group, or a host in its normal form. */
function targetOf(target: string): string {
  if (hostGroup(target) !== null) return target;
  // A mistyped group must not become a host.
  if (/^[\w-]+$/.test(target))
    throw new ContextdError('NOT_FOUND', `${target} is not a group, and a host has a dot in its name`, {
      remedy: 'The groups: `ctxd network groups`. A host of the local network is written with a port.',
    });
  const { why } = parsePattern(target, 'allow');
  if (why !== null) throw new ContextdError('ARGS_INVALID', why);
  return target.toLowerCase();
}

function checkDirectory(path: string): string {
  if (path.startsWith('/') && posix.normalize(path) === path) return path;
  throw new ContextdError(
    'PATH_INVALID',
    `${JSON.stringify(path.slice(0, 200))} is not the absolute path of a directory`,
  );
}

function checkPath(path: string, root: string): string {
  if (!path.startsWith('/') || posix.normalize(path) !== path || (path.endsWith('/') && path !== '/') || path === '/')
    throw new ContextdError(
      'PATH_INVALID',
      `${JSON.stringify(path.slice(0, 200))} is not an absolute path in its normal form`,
      {
        remedy: 'Write it without "..", "//" or a slash at its end.',
      },
    );
  if (isWithin(root, path))
    throw new ContextdError('PATH_INVALID', `${path} is in the project`, {
      remedy: 'A server gets the whole project or nothing of it: --path . to read it, --path .:rw to change it.',
    });
  return path;
}

function invalid(message: string, remedy: string): ContextdError {
  return new ContextdError('ARGS_INVALID', message, { remedy });
}
