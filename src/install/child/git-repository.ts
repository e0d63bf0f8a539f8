import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type SimpleGit, type SimpleGitOptions, type SimpleGitProgressEvent, simpleGit } from 'simple-git';
import { ContextdError } from '../../core/errors.ts';
import { INSTALL_VARIABLES } from '../../core/variable-names.ts';
import type { FetchLimits } from '../limits.ts';
import { formatSource, type GitSource } from '../source.ts';

import { gitFault } from './git-faults.ts';
import type { HttpOptions } from './http.ts';
import type { Meter } from './meter.ts';
import { tooLarge } from './names.ts';
import type { Login } from './netrc.ts';

export interface GitDeps {
  /** A directory for repositories. */
  work: string;
  limits: FetchLimits;
  meter: Meter;
  /** For what git does not fetch itself. */
  http: HttpOptions;
}

/** What a ref led to. */
export interface GitVersion {
  commit: string;
  /** Such as `refs/tags/v1`; null if the source names a commit. */
  ref: string | null;
}

/** An object of a repository. */
export interface GitObject {
  id: string;
  size: number;
}

/** Where the fetched commit is kept. */
const OURS = 'refs/contextd/tool';
const COMMIT = /^[0-9a-f]{40}$/;
/** Milliseconds between two looks at the size of what git has downloaded. */
const LOOK_MS = 100;

/**
 * What git may do here: nothing but fetch. These settings are on every command line, so they win over those of a person;
 * the person's `url.insteadOf`, credential helpers, proxies and ssh settings stay in force.
 */
const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.alternateRefsCommand=',
  'core.logAllRefUpdates=false',
  'credential.interactive=false',
  'fetch.fsckObjects=true',
  'transfer.fsckObjects=true',
  'transfer.bundleURI=false',
  'fetch.recurseSubmodules=false',
  'fetch.writeCommitGraph=false',
  // One pack, whose size can be watched while it grows.
  'fetch.unpackLimit=1',
  'gc.auto=0',
  'maintenance.auto=false',
  'protocol.version=2',
  'protocol.allow=never',
];

/** What simple-git calls the stages of git's progress. */
const STAGES: Readonly<Record<string, string>> = { 'remote:': 'The server prepares', resolving: 'Resolving deltas' };

const UNSAFE = {
  // Each is set above or by the person; nothing of a source or a repository gets into a command line but after `--`.
  allowUnsafeHooksPath: true,
  allowUnsafeFsMonitor: true,
  allowUnsafeProtocolOverride: true,
  allowUnsafeTemplateDir: true,
  allowUnsafeSshCommand: true,
  allowUnsafeAskPass: true,
};

const GIT_VARIABLES = [...INSTALL_VARIABLES.filter((name) => name.startsWith('GIT_')), 'GIT_TERMINAL_PROMPT'];

/** A bare repository of ours that holds one commit of a source. */
export class Repository {
  readonly #dir: string;
  readonly #source: GitSource;
  readonly #deps: GitDeps;
  #protocol = '';
  #url = '';

  private constructor(dir: string, source: GitSource, deps: GitDeps) {
    this.#dir = dir;
    this.#source = source;
    this.#deps = deps;
  }

  /** Creates an empty repository in `dir`, which exists. Throws PERMISSION_DENIED for a transport that runs commands. */
  static async create(dir: string, source: GitSource, deps: GitDeps): Promise<Repository> {
    const repository = new Repository(dir, source, deps);
    await repository.#run(['init', '--bare', '--quiet', '--template=', '.']);
    // A person's url.insteadOf may lead to another protocol; only that one is allowed from here on.
    repository.#url = (await repository.#run(['ls-remote', '--get-url', '--', source.url])).trim();
    repository.#protocol = protocolOf(repository.#url);
    return repository;
  }

  /** Where git really goes. */
  get url(): string {
    return this.#url;
  }

  /** The login that git has for a URL. Throws AUTH_FAILED. */
  async credential(url: string): Promise<Login> {
    const text = await this.#run(['credential', 'fill'], { input: () => `url=${url}\n\n` });
    const lineOf = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1] ?? '';
    return { user: lineOf('username'), password: lineOf('password') };
  }

  /** The commit that the source names now. Throws NOT_FOUND, or what the server says. */
  async resolve(): Promise<GitVersion> {
    const { url, ref } = this.#source;
    if (ref !== null && COMMIT.test(ref)) return { commit: ref, ref: null };
    const names =
      ref === null ? ['HEAD'] : [...(ref.startsWith('refs/') ? [ref] : []), `refs/tags/${ref}`, `refs/heads/${ref}`];
    const peeled = names.map((name) => `${name}^{}`);
    const lines = (await this.#run(['ls-remote', '--symref', '--', url, ...names, ...peeled])).split('\n');
    const found = new Map(lines.map((line) => line.split('\t')).map(([what = '', name = '']) => [name, what] as const));
    for (const name of names) {
      const commit = found.get(`${name}^{}`) ?? found.get(name);
      if (commit !== undefined && COMMIT.test(commit)) return { commit, ref: headOf(lines) ?? name };
    }
    throw new ContextdError('NOT_FOUND', `${url} has no ${ref === null ? 'commit' : `tag or branch ${ref}`}`, {
      remedy: ref === null ? 'Push a commit first.' : 'Check the name, or give all 40 digits of a commit.',
    });
  }

  /** Downloads the commit without its history and returns its id. */
  async fetch({ commit, ref }: GitVersion): Promise<string> {
    const watch = this.#watchSize();
    try {
      await this.#fetch(`+${ref ?? commit}:${OURS}`, ['--depth=1'], watch.signal).catch(async (thrown: unknown) => {
        // Servers of the old protocol send only what a ref names.
        if (ref !== null || !isUnadvertised(thrown)) throw thrown;
        await this.#fetch('+refs/*:refs/contextd/all/*', [], watch.signal);
        await this.#run(['update-ref', OURS, commit]);
      });
    } catch (thrown) {
      throw watch.fault() ?? thrown;
    } finally {
      watch.stop();
    }
    return (await this.#run(['rev-parse', '--verify', '--end-of-options', `${OURS}^{commit}`])).trim();
  }

  /** Types and sizes of objects, in their order. Throws INTEGRITY_FAILED if one is missing. */
  async describe(ids: readonly string[]): Promise<{ type: string; size: number }[]> {
    if (ids.length === 0) return [];
    const lines = (await this.#read(['--batch-check'], ids)).toString('latin1').trimEnd().split('\n');
    return ids.map((id, position) => {
      const [, type = '', size] = /^\S+ (\S+) (\d+)$/.exec(lines[position] ?? '') ?? [];
      if (size === undefined) throw missing(this.#source, id);
      return { type, size: Number(size) };
    });
  }

  /** The bytes of objects, in their order. */
  async readObjects(objects: readonly GitObject[]): Promise<Buffer[]> {
    const ids = objects.map(({ id }) => id);
    const all = ids.length === 0 ? Buffer.alloc(0) : await this.#read(['--batch'], ids);
    let at = 0;
    return objects.map(({ id, size }) => {
      const begin = all.indexOf(0x0a, at) + 1;
      if (begin === 0 || !all.toString('latin1', at, begin).endsWith(` ${size}\n`)) throw missing(this.#source, id);
      at = begin + size + 1;
      return all.subarray(begin, begin + size);
    });
  }

  /** The settings of a file of the repository, as `git config` reads them. */
  async readConfig(blob: string): Promise<{ key: string; value: string }[]> {
    const text = await this.#run(['config', '--blob', blob, '--null', '--list']);
    return text.split('\0').flatMap((entry) => {
      const at = entry.indexOf('\n');
      return at === -1 ? [] : [{ key: entry.slice(0, at), value: entry.slice(at + 1) }];
    });
  }

  async #fetch(refspec: string, options: readonly string[], signal: AbortSignal): Promise<void> {
    const flags = [
      '--no-tags',
      '--no-recurse-submodules',
      '--no-write-fetch-head',
      '--no-auto-maintenance',
      '--progress',
    ];
    await this.#run(['fetch', ...flags, ...options, '--', this.#source.url, refspec], { abort: signal });
  }

  async #run(command: readonly string[], options: Partial<SimpleGitOptions> = {}): Promise<string> {
    try {
      return await this.#git(options).raw([...command]);
    } catch (thrown) {
      throw gitFault(this.#source, thrown);
    }
  }

  async #read(flags: readonly string[], ids: readonly string[]): Promise<Buffer> {
    try {
      const git = this.#git({ input: () => `${ids.join('\n')}\n` });
      return await git.binaryCatFile([...flags]);
    } catch (thrown) {
      throw gitFault(this.#source, thrown);
    }
  }

  #git(options: Partial<SimpleGitOptions>): SimpleGit {
    const { limits, meter } = this.#deps;
    const allowed = this.#protocol === '' ? [] : [`protocol.${this.#protocol}.allow=always`];
    return simpleGit({
      baseDir: this.#dir,
      config: [...SETTINGS, ...allowed],
      unsafe: UNSAFE,
      allowEnvironment: GIT_VARIABLES,
      timeout: { block: limits.stall_ms },
      progress: ({ stage, progress }: SimpleGitProgressEvent) =>
        meter.label(`${STAGES[stage] ?? 'Downloading'}: ${progress}%`),
      ...options,
    });
  }

  /** Ends git when the repository outgrows the limit, and reports how large it is. */
  #watchSize(): { signal: AbortSignal; fault(): ContextdError | null; stop(): void } {
    const abort = new AbortController();
    const { limits, meter } = this.#deps;
    let fault: ContextdError | null = null;
    const timer = setInterval(async () => {
      const bytes = await sizeOf(this.#dir);
      meter.set(bytes);
      if (bytes <= limits.bytes || fault !== null) return;
      fault = tooLarge(`${formatSource({ ...this.#source, sub: '' })} has more than ${limits.bytes} bytes`);
      abort.abort();
    }, LOOK_MS);
    return { signal: abort.signal, fault: () => fault, stop: () => clearInterval(timer) };
  }
}

/** Others than these are programs named after the transport: `ext::` runs any command. */
const TRANSPORTS = ['https', 'http', 'ssh', 'git', 'file'];

/** How git reaches a URL: `user@host:path` is ssh, a plain path is a file. */
function protocolOf(url: string): string {
  const [, scheme = '', colons = ''] = /^([A-Za-z0-9][A-Za-z0-9+.-]*)(::|:\/\/)/.exec(url) ?? [];
  if (colons === '') return /^[^/]*:/.test(url) ? 'ssh' : 'file';
  if (colons === '://' && TRANSPORTS.includes(scheme.toLowerCase())) return scheme.toLowerCase();
  throw transport(scheme);
}

function transport(name: string): ContextdError {
  return new ContextdError('PERMISSION_DENIED', `your git configuration leads this source to the transport ${name}::`, {
    remedy: 'Change url.*.insteadOf so that it leads to https, ssh, git, http or file.',
  });
}

/** The branch that HEAD names, as `ls-remote --symref` prints it. */
function headOf(lines: readonly string[]): string | null {
  for (const line of lines) {
    const branch = /^ref: (refs\/\S+)\tHEAD$/.exec(line)?.[1];
    if (branch !== undefined) return branch;
  }
  return null;
}

async function sizeOf(dir: string): Promise<number> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true }).catch(() => []);
  const sizes = entries.map(async (entry) =>
    entry.isFile()
      ? await stat(join(entry.parentPath, entry.name)).then(
          ({ size }) => size,
          () => 0,
        )
      : 0,
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

function isUnadvertised(thrown: unknown): boolean {
  return thrown instanceof ContextdError && String(thrown.details.git).includes('unadvertised object');
}

function missing(source: GitSource, id: string): ContextdError {
  return new ContextdError('INTEGRITY_FAILED', `the server of ${formatSource(source)} left out the object ${id}`, {
    remedy: 'Try again. If it fails again, the repository is damaged: tell its author.',
  });
}
