import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { ContextdError, isErrno } from '../core/errors.ts';

/** Bytes; a larger file is no credential. */
const FILE_MAX_BYTES = 8_192;
const GH_MAX_MS = 10_000;

/** Where a secret comes from. */
export type CredentialSource =
  | { readonly kind: 'gh' }
  | { readonly kind: 'env'; readonly name: string }
  | { readonly kind: 'file'; readonly path: string };

/** What reading a source needs of the environment. */
export interface SourceEnvironment {
  readonly path: string;
  readonly home: string;
  /** The value of a variable; undefined if it is not set. */
  variable(name: string): string | undefined;
}

/** What the daemon has of it: not the variables of a person's shell. */
export function fileSources({ path, home }: Pick<SourceEnvironment, 'path' | 'home'>): SourceEnvironment {
  return { path, home, variable: () => undefined };
}

/** Reads `gh`, `env:NAME` or `file:PATH`, with an absolute path. Throws ARGS_INVALID. */
export function parseSource(text: string): CredentialSource {
  const [, kind, rest = ''] = /^(gh|env|file)(?::(.+))?$/s.exec(text) ?? [];
  if (kind === 'gh' && rest === '') return { kind };
  if (kind === 'env' && /^[A-Za-z_][A-Za-z0-9_]*$/.test(rest)) return { kind, name: rest };
  if (kind === 'file' && isAbsolute(rest)) return { kind, path: rest };
  throw new ContextdError('ARGS_INVALID', `${JSON.stringify(text.slice(0, 100))} is not where a secret comes from`, {
    remedy: 'Pass gh, env:NAME or file:PATH.',
  });
}

/** The secret of a source, for a host. Throws NOT_FOUND; no message holds anything of the secret. */
export async function readSource(
  source: CredentialSource,
  host: string,
  environment: SourceEnvironment,
): Promise<string> {
  const secret = await readOne(source, host, environment);
  const trimmed = secret.replace(/\r?\n$/, '');
  if (trimmed !== '') return trimmed;
  throw new ContextdError('NOT_FOUND', `${describeSource(source)} holds no secret`, { remedy: 'Set it first.' });
}

export function describeSource(source: CredentialSource): string {
  if (source.kind === 'gh') return 'gh';
  return source.kind === 'env' ? `the variable ${source.name}` : source.path;
}

async function readOne(source: CredentialSource, host: string, environment: SourceEnvironment): Promise<string> {
  if (source.kind === 'env') return environment.variable(source.name) ?? '';
  return source.kind === 'file' ? await readFile(source.path) : await askGh(host, environment);
}

async function readFile(path: string): Promise<string> {
  try {
    // Never waits for a pipe.
    const file = await open(
      path,
      constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_NOFOLLOW,
    );
    try {
      if ((await realpath(`/proc/self/fd/${file.fd}`).catch(() => realpath(path))) !== path)
        throw new ContextdError('NOT_FOUND', `${path} leads to another file`, { remedy: 'Name the file itself.' });
      const stats = await file.stat();
      if (!stats.isFile() || stats.size > FILE_MAX_BYTES)
        throw new ContextdError(
          'ARGS_INVALID',
          `${path} is not a file with a secret of at most ${FILE_MAX_BYTES} bytes`,
          {
            remedy: 'Name the file that holds nothing but the secret.',
          },
        );
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  } catch (cause) {
    if (!isErrno(cause)) throw cause;
    throw new ContextdError('NOT_FOUND', `cannot read ${path} (${cause.code})`, { remedy: 'Pass a readable file.' });
  }
}

/** gh keeps one token for a site, which its API has too. */
async function askGh(host: string, { path, home }: SourceEnvironment): Promise<string> {
  const site = host === 'api.github.com' || host.endsWith('.github.com') ? 'github.com' : host;
  try {
    const asked = promisify(execFile)('gh', ['auth', 'token', '--hostname', site], {
      env: { PATH: path, HOME: home, XDG_CONFIG_HOME: join(home, '.config') },
      timeout: GH_MAX_MS,
    });
    return (await asked).stdout;
  } catch (cause) {
    const why = isErrno(cause, 'ENOENT') ? 'gh is not installed' : `gh has no token for ${site}`;
    throw new ContextdError('NOT_FOUND', why, { remedy: `Run gh auth login --hostname ${site}, or pass file:PATH.` });
  }
}
