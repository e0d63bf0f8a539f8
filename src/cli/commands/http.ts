import { ContextdError } from '../../core/errors.ts';
import { nearestNames } from '../../core/nearest-names.ts';
import type { HttpToken__Output as HttpToken } from '../../protocol/generated/management.ts';
import { withClient } from '../client.ts';
import { defineCommand, type ParsedArgs } from '../command.ts';
import type { CliContext } from '../context.ts';
import { provenStanding } from '../http/prove.ts';
import { readTokenFile, removeTokenFile, type TokenFile, tokenFilePath, writeTokenFile } from '../http/token-file.ts';
import { resolveProjectRoot } from '../project-root.ts';
import type { View } from '../render.ts';
import { changeSetting } from './config.ts';
import { readDuration } from './network.ts';
import { restartDaemon, YES } from './server.ts';

const httpOn = defineCommand({
  name: ['http', 'on'],
  summary: 'Open the HTTP API on this machine and restart the daemon. Background jobs end.',
  options: [YES],
  async run(context, args) {
    await changeSetting(context, 'http.enabled', true);
    await restartDaemon(context, args);
    const { url } = await provenStanding(context);
    return { enabled: true, url };
  },
  view: ({ url }) => ({
    kind: 'lines',
    lines: [`The HTTP API answers at ${url}`, 'Make a token for it: ctxd http token'],
  }),
});

const httpOff = defineCommand({
  name: ['http', 'off'],
  summary: 'Close the HTTP API and restart the daemon. Background jobs end. Tokens stay.',
  options: [YES],
  async run(context, args) {
    await changeSetting(context, 'http.enabled', false);
    await restartDaemon(context, args);
    return { enabled: false };
  },
  view: () => ({ kind: 'lines', lines: ['The HTTP API is off'] }),
});

const httpUrl = defineCommand({
  name: ['http', 'url'],
  summary: 'Print the address of the HTTP API, after the listener there has proved that it is your daemon.',
  async run(context) {
    const { url, certificate_sha256 } = await provenStanding(context);
    return { url, certificate_sha256 };
  },
  view: ({ url }) => ({ kind: 'lines', lines: [url] }),
});

const DEFAULT_NAME = 'default';
const NAME = { syntax: '--name <name>', help: `name of the token (default: ${DEFAULT_NAME})` };

const httpToken = defineCommand({
  name: ['http', 'token'],
  summary: 'Print a token for the HTTP API. The first time, make it and write its file (0600).',
  options: [
    NAME,
    { syntax: '--allow <permissions>', help: 'read, execute, decide, separated by commas (default: read,execute)' },
    { syntax: '--project <dir>', help: 'for this project only; without it, for the machine' },
    { syntax: '--expires <time>', help: 'such as 12h or 30d; without it, it does not expire' },
    {
      syntax: '--rotate',
      help: 'replace the token; the old one ends. What no option names stays; a lifetime starts again',
    },
    {
      syntax: '--header',
      help: 'print it as a header, for `curl -H @-`: arguments are seen by all users of the machine',
    },
  ],
  async run(context, args) {
    const name = args.text('name') || DEFAULT_NAME;
    const { url, certificate_sha256 } = await provenStanding(context);
    const replaced = args.flag('rotate') ? await replacedToken(context, name) : undefined;
    const known = args.flag('rotate') ? undefined : await knownToken(context, name);
    if (known !== undefined && asksForMore(args)) throw isMadeAlready(known.name);
    const content = known ?? (await makeToken(context, args, name, replaced));
    const complete = { ...content, url, certificate_sha256 };
    if (known?.url !== url || known.certificate_sha256 !== certificate_sha256)
      await writeTokenFile(context.paths, complete);
    const line = args.flag('header') ? `Authorization: Bearer ${complete.token}` : complete.token;
    return { line, made: { ...complete, file: tokenFilePath(context.paths, content.name) } };
  },
  view: ({ line }) => ({ kind: 'lines', lines: [line] }),
  bare: ({ made }) => JSON.stringify(made),
});

type NewFile = Omit<TokenFile, 'url' | 'certificate_sha256'>;

/** The token of that name that was made before; undefined before the first one. */
async function knownToken(context: CliContext, name: string): Promise<TokenFile | undefined> {
  const { tokens } = await withClient(context.paths, (client) => client.listHttpTokens({}));
  const held = tokens.find((one) => one.name === name);
  if (held !== undefined && hasExpired(held)) throw isExpired(name);
  const file = held === undefined ? undefined : await readTokenFile(context.paths, name);
  if (held === undefined || file?.id === held.id) return file;
  throw new ContextdError(
    'CONFLICT',
    `the token ${name} was made, but ${tokenFilePath(context.paths, name)} is not its file`,
    {
      remedy: 'Replace it with --rotate.',
    },
  );
}

function hasExpired({ expires_ms }: HttpToken): boolean {
  return expires_ms !== 0 && expires_ms <= Date.now();
}

/** A new token under the name of an expired one would be made with the defaults, which may be more than it could do. */
function isExpired(name: string): ContextdError {
  return new ContextdError('EXPIRED', `the token ${name} has expired`, {
    remedy: `Replace it with \`ctxd http token --name ${name} --rotate\`, which keeps what it may do.`,
  });
}

function asksForMore(args: ParsedArgs): boolean {
  return ['allow', 'project', 'expires'].some((option) => args.flag(option));
}

function isMadeAlready(name: string): ContextdError {
  return new ContextdError('CONFLICT', `the token ${name} was made already, and keeps what it may do`, {
    remedy: 'Replace it with --rotate, or choose another name with --name.',
  });
}

/**
 * The token that --rotate replaces, which may have expired. A misspelt name must not make a new token that may do more.
 * Undefined for the default token before the first one was made.
 */
async function replacedToken({ paths }: CliContext, name: string): Promise<HttpToken | undefined> {
  const { tokens } = await withClient(paths, (client) => client.listHttpTokens({}));
  const replaced = tokens.find((one) => one.name === name);
  if (replaced !== undefined || name === DEFAULT_NAME) return replaced;
  const near = nearestNames(
    name,
    tokens.map((one) => one.name),
  );
  throw new ContextdError('NOT_FOUND', `there is no token ${JSON.stringify(name)} to replace`, {
    remedy:
      near.length > 0 ? `Did you mean ${near.join(' or ')}?` : 'See `ctxd http tokens`, or make it without --rotate.',
  });
}

/** Options that were not given keep what the replaced token has. */
async function makeToken(
  context: CliContext,
  args: ParsedArgs,
  name: string,
  replaced: HttpToken | undefined,
): Promise<NewFile> {
  const directory = args.text('project');
  const { cwd, env, paths } = context;
  const root = directory === undefined ? replaced?.root : await resolveProjectRoot(cwd, directory, env.home, paths);
  const permissions = args
    .text('allow')
    ?.split(',')
    .filter((one) => one !== '');
  const lastsMs = args.flag('expires') ? readDuration(args.text('expires')) : lifetimeMs(replaced);
  const request = {
    name,
    root: root ?? '',
    permissions: permissions ?? replaced?.permissions ?? [],
    expires_ms: lastsMs === 0 ? 0 : Date.now() + lastsMs,
    replace: args.flag('rotate'),
  };
  const { made, token, proof_key } = await withClient(paths, (client) => client.makeHttpToken(request));
  if (made === null) throw new ContextdError('INTERNAL_ERROR', 'the daemon sent no token');
  return { name: made.name, token, id: made.id, proof_key };
}

/** From when the token was made until it expires; 0: it does not expire. */
function lifetimeMs(token: HttpToken | undefined): number {
  return token === undefined || token.expires_ms === 0 ? 0 : token.expires_ms - token.made_ms;
}

const httpTokens = defineCommand({
  name: ['http', 'tokens'],
  summary: 'List the tokens of the HTTP API and what they may do.',
  run: (context) => withClient(context.paths, (client) => client.listHttpTokens({})),
  bare: ({ tokens }) => JSON.stringify(tokens),
  view: ({ tokens }) => tableOf(tokens),
});

const httpRevoke = defineCommand({
  name: ['http', 'revoke'],
  summary: 'End a token of the HTTP API and remove its file.',
  parameters: [{ syntax: '<name>', help: 'as `ctxd http tokens` shows it' }],
  async run(context, args) {
    const name = args.requiredWord(0);
    const { tokens } = await withClient(context.paths, (client) => client.revokeHttpToken({ name }));
    await removeTokenFile(context.paths, name);
    return { revoked: name, tokens };
  },
  view: ({ revoked }) => ({ kind: 'lines', lines: [`the token ${revoked} has ended`] }),
});

export const httpCommands = [httpOn, httpOff, httpUrl, httpToken, httpTokens, httpRevoke];

function tableOf(tokens: readonly HttpToken[]): View {
  return {
    kind: 'table',
    columns: ['NAME', 'MAY', 'PROJECT', 'MADE', 'EXPIRES'],
    rows: tokens.map((one) => [
      one.name,
      one.permissions.join(','),
      one.root === '' ? 'all' : one.root,
      dayOf(one.made_ms),
      one.expires_ms === 0 ? 'never' : `${hasExpired(one) ? 'expired ' : ''}${dayOf(one.expires_ms)}`,
    ]),
    empty: 'there is no token; `ctxd http token` makes one',
  };
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
