import { realpath } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { describeSource, parseSource, readSource } from '../../config/credential-source.ts';
import { readVariable } from '../../config/env.ts';
import { ContextdError } from '../../core/errors.ts';
import type {
  NetworkCredentialInfo__Output as NetworkCredentialInfo,
  NetworkCredentials__Output as NetworkCredentials,
} from '../../protocol/generated/management.ts';
import { type DaemonClient, withClient } from '../client.ts';
import { defineCommand, type ParsedArgs } from '../command.ts';
import type { CliContext } from '../context.ts';
import { ensureRunning } from '../daemon/launch.ts';
import { confirm } from '../input.ts';
import type { View } from '../render.ts';
import { readDuration, scopeOf } from './network.ts';

const PROJECT = { syntax: '--project <dir>', help: 'the project directory (default: the current project)' };
const OF_MACHINE = { syntax: '--machine', help: 'for every project of this machine' };
const YES = { syntax: '--yes', help: 'do not ask; without a terminal nothing is changed without it' };
const HOST = { syntax: '<host>', help: 'the host, such as git.example.com or registry.example.com:8443' };

const networkCredentialAdd = defineCommand<NetworkCredentials>({
  name: ['network', 'credential', 'add'],
  summary: 'Let commands use a secret at a host without having it. Only a person should run this.',
  parameters: [HOST],
  options: [
    { syntax: '--from <source>', help: 'where the secret is: gh, env:NAME or file:PATH' },
    { syntax: '--paths <globs>', help: "paths that may be asked for, such as '/org/repo.git/*'; several with commas" },
    { syntax: '--push', help: 'git may push to these paths; the same as --methods GET,HEAD,POST' },
    { syntax: '--methods <list>', help: 'methods that may be used (default: GET,HEAD; git may always read)' },
    { syntax: '--scheme <name>', help: 'bearer, basic or token (default: basic for git, otherwise bearer)' },
    { syntax: '--user <name>', help: 'the user name of basic (default: any, as sites want it with a token)' },
    { syntax: '--header <name>', help: 'another header than Authorization; it gets the secret alone' },
    {
      syntax: '--placeholder <names>',
      help: 'variables that hold a placeholder in commands, for clients that want one',
    },
    { syntax: '--refresh <time>', help: 'read the secret again after a time, such as 1h (file: and gh)' },
    OF_MACHINE,
    PROJECT,
    YES,
  ],
  async run(context, args) {
    const root = await scopeOf(context, args, null);
    const from = args.text('from');
    if (from === undefined)
      throw new ContextdError('ARGS_INVALID', 'no source of the secret is named', {
        remedy: 'Pass --from gh, --from env:NAME or --from file:PATH. A secret is never an argument.',
      });
    const credential = await credentialOf(context, args, from);
    const secret = await readSource(parseSource(credential.source), credential.host, sourceOf(context));
    await ensureRunning(context);
    return withClient(context.paths, async (client) => {
      const request = { credential, root, secret, dry_run: true };
      const plan = await client.setNetworkCredential(request);
      await agree(context, args, [headline(root), ...changedLines(plan)]);
      return client.setNetworkCredential({ ...request, dry_run: false });
    });
  },
  view: (result) => ({ kind: 'lines', lines: ['Bound:', ...changedLines(result)] }),
});

const networkCredentialList = defineCommand<readonly NetworkCredentialInfo[]>({
  name: ['network', 'credential', 'list'],
  summary: 'List the secrets that are bound to hosts, without their values.',
  options: [{ syntax: '--machine', help: 'only those for every project' }, PROJECT],
  async run(context, args) {
    const root = await scopeOf(context, args, 'machine');
    return withClient(context.paths, async (client) => (await client.listNetworkCredentials({ root })).credentials);
  },
  view: viewList,
});

const networkCredentialRemove = defineCommand<NetworkCredentials>({
  name: ['network', 'credential', 'remove'],
  summary: 'Take back what was bound to a host.',
  parameters: [HOST],
  options: [{ syntax: '--paths <globs>', help: 'only the one of these paths' }, OF_MACHINE, PROJECT, YES],
  async run(context, args) {
    const root = await scopeOf(context, args, null);
    const host = args.requiredWord(0);
    await ensureRunning(context);
    const bound = await withClient(context.paths, (client) => client.listNetworkCredentials({ root }));
    meantBy(bound.credentials, host);
    await agree(context, args, [
      `No command ${root === '' ? 'of this machine' : `in ${root}`} uses the credential for ${host}.`,
    ]);
    return withClient(context.paths, (client) =>
      client.removeNetworkCredentials({ root, host, paths: listOf(args.text('paths')) }),
    );
  },
  view: (result) => ({ kind: 'lines', lines: ['Removed:', ...result.changed.map((one) => `  ${describe(one)}`)] }),
});

const networkCredentialRefresh = defineCommand<NetworkCredentials>({
  name: ['network', 'credential', 'refresh'],
  summary: 'Read secrets again from where they came.',
  parameters: [{ syntax: '[host]', help: 'only those of this host' }],
  options: [OF_MACHINE, PROJECT, YES],
  async run(context, args) {
    const root = await scopeOf(context, args, 'machine');
    await ensureRunning(context);
    return withClient(context.paths, async (client) => {
      const all = (await client.listNetworkCredentials({ root })).credentials;
      const meant = meantBy(all, args.word(0));
      await agree(context, args, ['The secrets of these are read again:', ...meant.map((one) => `  ${describe(one)}`)]);
      return { credentials: all, changed: await refreshAll(context, client, root, meant), notes: [] };
    });
  },
  view: (result) => ({ kind: 'lines', lines: ['Read again:', ...result.changed.map((one) => `  ${describe(one)}`)] }),
});

export const networkCredentialCommands = [
  networkCredentialAdd,
  networkCredentialList,
  networkCredentialRefresh,
  networkCredentialRemove,
];

/** The credentials of a host, written with its port or without; all of them if no host is given. */
function meantBy(all: readonly NetworkCredentialInfo[], host: string | undefined): NetworkCredentialInfo[] {
  const meant = all.filter((one) => host === undefined || one.host === host || placeOf(one) === host);
  if (meant.length > 0) return meant;
  throw new ContextdError('NOT_FOUND', `no credential is bound${host === undefined ? '' : ` to ${host}`}`, {
    remedy: 'See `ctxd network credential list`.',
  });
}

async function refreshAll(
  context: CliContext,
  client: Pick<DaemonClient, 'setNetworkCredential'>,
  root: string,
  meant: readonly NetworkCredentialInfo[],
): Promise<NetworkCredentialInfo[]> {
  const changed: NetworkCredentialInfo[] = [];
  for (const credential of meant) {
    const secret = await readSource(parseSource(credential.source), credential.host, sourceOf(context));
    const scope = credential.from === 'machine' ? '' : root;
    const result = await client.setNetworkCredential({ credential, root: scope, secret, dry_run: false });
    changed.push(...result.changed);
  }
  return changed;
}

function sourceOf({ env }: CliContext): Parameters<typeof readSource>[2] {
  return { path: env.path, home: env.home, variable: readVariable };
}

/** Sites whose git wants a user name with the token. */
const GIT_SITES: readonly string[] = ['github.com', 'gitlab.com', 'bitbucket.org', 'codeberg.org'];
/** Clients that do not even ask without a token, by their host. */
const CLIENT_VARIABLES: Readonly<Record<string, readonly string[]>> = {
  'github.com': ['GH_TOKEN'],
  'api.github.com': ['GH_TOKEN'],
  'npm.pkg.github.com': ['NODE_AUTH_TOKEN'],
  'registry.npmjs.org': ['NODE_AUTH_TOKEN'],
};

async function credentialOf({ cwd }: CliContext, args: ParsedArgs, from: string): Promise<NetworkCredentialInfo> {
  const [, host = '', digits] = /^(.*?)(?::(\d{1,5}))?$/.exec(args.requiredWord(0)) ?? [];
  const paths = listOf(args.text('paths'));
  if (args.flag('push') && paths.length === 0)
    throw new ContextdError('ARGS_INVALID', 'a push is granted by path', { remedy: "Add --paths '/org/repo.git/*'." });
  if (args.flag('push') && args.text('methods') !== undefined)
    throw new ContextdError('ARGS_INVALID', 'cannot use both --push and --methods', { remedy: 'Pass one of them.' });
  const header = args.text('header')?.toLowerCase() ?? 'authorization';
  const user = args.text('user') ?? '';
  const isGit = GIT_SITES.includes(host) || paths.some((path) => /\.git(?:\/|$)/.test(path)) || args.flag('push');
  const usual = header !== 'authorization' ? 'plain' : isGit || user !== '' ? 'basic' : 'bearer';
  const methods = args.flag('push') ? ['GET', 'HEAD', 'POST'] : listOf(args.text('methods') ?? 'GET,HEAD');
  const variables = args.text('placeholder');
  return {
    host: host.toLowerCase(),
    port: Number(digits ?? 443),
    header,
    scheme: args.text('scheme') ?? usual,
    user,
    paths,
    source: from.startsWith('file:') ? `file:${await realPlace(resolve(cwd, from.slice('file:'.length)))}` : from,
    methods: methods.map((method) => method.toUpperCase()),
    placeholders: variables === undefined ? [...(CLIENT_VARIABLES[host] ?? [])] : listOf(variables),
    refresh_ms: readDuration(args.text('refresh')),
    given_by: userInfo().username,
    from: '',
    read_ms: 0,
    state: '',
  };
}

/** Without links, so that none that changes later leads elsewhere. A missing file is reported when it is read. */
async function realPlace(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

async function agree(context: CliContext, args: ParsedArgs, lines: readonly string[]): Promise<void> {
  if (args.flag('yes')) return;
  const refusal = new ContextdError('CANCELLED', 'no credential was changed', {
    remedy: 'A person answers yes at a terminal, or passes --yes.',
  });
  await confirm(context, lines, 'Do this?', refusal);
}

function listOf(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function headline(root: string): string {
  return `${root === '' ? 'Commands of every project' : `Commands in ${root}`} can use, without having the secret:`;
}

function changedLines({ changed, notes }: NetworkCredentials): string[] {
  return [...changed.map((one) => `  ${describe(one)}`), ...notes];
}

/** `git.example.com: GET, HEAD of /org/repo.git/*, from gh`. */
function describe(one: NetworkCredentialInfo): string {
  const paths = one.paths.length === 0 ? 'every path' : one.paths.join(', ');
  return `${placeOf(one)}: ${one.methods.join(', ')} of ${paths}, from ${describeSource(parseSource(one.source))}`;
}

function placeOf({ host, port }: Pick<NetworkCredentialInfo, 'host' | 'port'>): string {
  return port === 443 ? host : `${host}:${port}`;
}

function viewList(credentials: readonly NetworkCredentialInfo[]): View {
  return {
    kind: 'table',
    columns: ['HOST', 'METHODS', 'PATHS', 'HEADER', 'SOURCE', 'FROM', 'STATE', 'READ', 'BY'],
    rows: credentials.map((one) => [
      placeOf(one),
      one.methods.join(' '),
      one.paths.length === 0 ? '*' : one.paths.join(' '),
      one.scheme === 'plain' ? one.header : `${one.header} (${one.scheme})`,
      one.source,
      one.from,
      one.state,
      new Date(one.read_ms).toISOString(),
      one.given_by,
    ]),
    empty: 'No secret is bound to a host: ctxd network credential add git.example.com --from gh',
  };
}
