import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { isErrno } from '../../core/errors.ts';
import { normalName } from '../../egress/names.ts';
import type { NetworkGroup__Output as NetworkGroup } from '../../protocol/generated/management.ts';

/** What a project names, by the files that name it. Nothing of it is allowed by being found. */
export interface NetworkNeeds {
  /** Known groups that its package managers and repositories use. */
  readonly groups: ReadonlyMap<string, readonly string[]>;
  /** Hosts that no group has: a registry of a company, or what somebody put into a lock file. */
  readonly hosts: ReadonlyMap<string, readonly string[]>;
}

/** How a file is read: the groups that its mere presence suggests, and where it names hosts. */
interface Reader {
  readonly file: RegExp;
  readonly groups?: readonly string[];
  /** The first group that takes part in a match is a URL. It reads a text in which `withShortBlanks` left single blanks. */
  readonly urls?: RegExp;
}

const READERS: readonly Reader[] = [
  { file: /^(?:package|npm-shrinkwrap)(?:-lock)?\.json$/, groups: ['npm'], urls: /"resolved":\s*"([^"]+)"/g },
  { file: /^pnpm-lock\.yaml$/, groups: ['npm'], urls: /\btarball:\s*['"]?([^\s'",}]+)/g },
  { file: /^yarn\.lock$/, groups: ['npm'], urls: /^\s+resolved\s+"?([^"\s]+)/gm },
  { file: /^bun\.lockb?$/, groups: ['npm'], urls: /"(https?:\/\/[^"]+\.tgz)"/g },
  { file: /^\.npmrc$/, urls: /\bregistry\s*=\s*(\S+)/g },
  { file: /^\.yarnrc(?:\.yml)?$/, urls: /\b(?:npmRegistryServer:|registry)\s*"?([^\s"]+)/g },
  { file: /^deno\.(?:lock|jsonc?)$/, groups: ['jsr'] },
  {
    file: /^requirements[\w.-]*\.(?:txt|in)$/,
    groups: ['pypi'],
    urls: /(?:--(?:extra-)?index-url|-i|--find-links|-f)[ =]\s*(\S+)|\b(?:git\+|@ )((?:https?|ssh):\S+)/g,
  },
  {
    file: /^(?:pyproject\.toml|(?:poetry|uv|pdm)\.lock)$/,
    groups: ['pypi'],
    urls: /\b(?:index-)?(?:url|registry|git)\s*=\s*"([^"]+)"/g,
  },
  { file: /^Pipfile(?:\.lock)?$/, groups: ['pypi'], urls: /"?url"?\s*[:=]\s*"([^"]+)"/g },
  { file: /^setup\.(?:py|cfg)$/, groups: ['pypi'] },
  { file: /^pip\.conf$/, urls: /index-url\s*=\s*(\S+)/g },
  { file: /^environment\.ya?ml$/, groups: ['conda'] },
  {
    file: /^Cargo\.lock$/,
    groups: ['crates'],
    urls: /^source = "(?:registry|sparse|git)\+(?!https:\/\/github\.com\/rust-lang\/crates\.io-index)([^"]+)"/gm,
  },
  { file: /^Cargo\.toml$/, groups: ['crates'], urls: /\bgit\s*=\s*"([^"]+)"/g },
  { file: /^rust-toolchain(?:\.toml)?$/, groups: ['rust'] },
  { file: /^go\.(?:mod|sum|work)$/, groups: ['go'] },
  { file: /^pom\.xml$/, groups: ['maven'], urls: /<(?:repository|pluginRepository)>[\s\S]{0,500}?<url>\s*([^<\s]+)/g },
  {
    file: /^(?:build|settings)\.gradle(?:\.kts)?$/,
    groups: ['maven', 'gradle'],
    urls: /\burl\s*[=(]?\s*(?:uri\()?["']([^"']+)/g,
  },
  { file: /^gradle-wrapper\.properties$/, groups: ['gradle'], urls: /^distributionUrl=(\S+)/gm },
  { file: /^gradle\.lockfile$/, groups: ['maven'] },
  { file: /^Gemfile(?:\.lock)?$/, groups: ['rubygems'], urls: /^\s*(?:remote:|source)\s*["']?([^\s"']+)/gm },
  { file: /^composer\.(?:json|lock)$/, groups: ['packagist'], urls: /"url":\s*"([^"]+)"/g },
  { file: /^(?:packages\.lock\.json|.+\.(?:cs|fs|vb)proj)$/, groups: ['nuget'] },
  { file: /^nuget\.config$/i, groups: ['nuget'], urls: /\bvalue="(https?:[^"]+)"/g },
  { file: /^mix\.(?:exs|lock)$/, groups: ['hex'] },
  { file: /^\.gitmodules$/, urls: /^\s*url\s*=\s*(\S+)/gm },
];

const GIT_REMOTES = /^\s*(?:push)?url\s*=\s*(\S+)/gm;

/** Bytes of a file that are read, directories that are looked into, and hosts that are shown. */
const FILE_MAX_BYTES = 32 * 1024 * 1024;
const DIRECTORIES_MAX = 300;
const DEPTH_MAX = 2;
const HOSTS_MAX = 30;
const SKIPPED = /^(?:\..*|node_modules|vendor|target|dist|build|venv|__pycache__)$/;

/** Reads the lock files and remotes of a project. They are only a proposal: anyone can write them. */
export async function findNetworkNeeds(root: string, groups: readonly NetworkGroup[]): Promise<NetworkNeeds> {
  const needs = new Needs(groups);
  for (const file of await filesOf(root)) {
    const reader = READERS.find((one) => one.file.test(basename(file)));
    if (reader === undefined) continue;
    const name = relative(root, file);
    for (const group of reader.groups ?? []) needs.addGroup(group, name);
    if (reader.urls !== undefined) needs.addUrls(await readText(file), reader.urls, name);
  }
  const wrapper = await readText(join(root, 'gradle/wrapper/gradle-wrapper.properties'));
  if (wrapper !== '') needs.addUrls(wrapper.replaceAll('\\:', ':'), /^distributionUrl=(\S+)/gm, 'gradle wrapper');
  const cargo = await readText(join(root, '.cargo/config.toml'));
  needs.addUrls(cargo, /\b(?:index|registry)\s*=\s*"(?:sparse\+)?([^"]+)"/g, '.cargo/config.toml');
  needs.addUrls(await readText(await gitConfigOf(root)), GIT_REMOTES, 'remotes of git');
  return needs.found();
}

class Needs {
  readonly #known: readonly NetworkGroup[];
  readonly #groups = new Map<string, Set<string>>();
  readonly #hosts = new Map<string, Set<string>>();

  constructor(known: readonly NetworkGroup[]) {
    this.#known = known;
  }

  addGroup(group: string, file: string): void {
    if (this.#known.some(({ name }) => name === group)) add(this.#groups, group, file);
  }

  addUrls(text: string, urls: RegExp, file: string): void {
    for (const match of withShortBlanks(text).matchAll(urls)) {
      const host = hostOfUrl(match.slice(1).find((part) => part !== undefined) ?? '');
      if (host === null) continue;
      const group = this.#known.find(({ patterns, mirrors }) =>
        [...patterns, ...mirrors].some((pattern) => covers(pattern, host)),
      );
      if (group !== undefined) add(this.#groups, group.name, file);
      else if (this.#hosts.size < HOSTS_MAX || this.#hosts.has(host)) add(this.#hosts, host, file);
    }
  }

  found(): NetworkNeeds {
    const listed = (map: ReadonlyMap<string, Set<string>>) =>
      new Map([...map].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, files]) => [name, [...files]] as const));
    return { groups: listed(this.#groups), hosts: listed(this.#hosts) };
  }
}

/**
 * The text with each run of blanks as one blank, or as a line break if it has one, and a blank if the line begins so. Anyone
 * can write these files: with `^\s*` or two `\s*`, a search takes time that grows with the square of a run's length.
 */
function withShortBlanks(text: string): string {
  return text.replaceAll(/\s+/g, (run) => (run.endsWith('\n') ? '\n' : run.includes('\n') ? '\n ' : ' '));
}

function add(map: Map<string, Set<string>>, name: string, file: string): void {
  map.set(name, (map.get(name) ?? new Set()).add(file));
}

function covers(pattern: string, host: string): boolean {
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : pattern === host;
}

/** `registry.example.com`, with the port if it is not that of HTTPS or HTTP; null if the text names no host of the network. */
export function hostOfUrl(text: string): string | null {
  const scp = /^(?:[\w.-]+@)([\w.-]+):(?!\/\/)/.exec(text);
  if (scp !== null) return named(scp[1] ?? '', '22');
  const [, scheme = '', host = '', port] =
    /^(?:git\+)?(https?|ssh|git):\/\/(?:[^@/\s]*@)?([\w.-]+)(?::(\d+))?/.exec(text) ?? [];
  if (scheme === '') return null;
  return named(host, port ?? { ssh: '22', git: '9418' }[scheme] ?? '');
}

const PORT_MAX = 65_535;

function named(host: string, port: string): string | null {
  const { name } = normalName(host);
  if (name === null || !name.includes('.') || Number(port) > PORT_MAX) return null;
  return port === '' || port === '443' || port === '80' ? name : `${name}:${Number(port)}`;
}

/** Files of the root and of directories up to two levels below it. */
async function filesOf(root: string): Promise<string[]> {
  const files: string[] = [];
  let level = [root];
  let visited = 0;
  for (let depth = 0; depth <= DEPTH_MAX; depth++) {
    const next: string[] = [];
    for (const directory of level) {
      visited += 1;
      if (visited > DIRECTORIES_MAX) return files;
      for (const entry of await readdir(directory, { withFileTypes: true }).catch(() => [])) {
        if (entry.isFile()) files.push(join(directory, entry.name));
        else if (entry.isDirectory() && !SKIPPED.test(entry.name)) next.push(join(directory, entry.name));
      }
    }
    level = next;
  }
  return files;
}

/** In a worktree of git, `.git` is a file that leads to the repository. */
async function gitConfigOf(root: string): Promise<string> {
  const [, line = ''] = /^gitdir:(.*)/.exec(await readText(join(root, '.git'))) ?? [];
  const gitDir = line.trim();
  if (gitDir === '') return join(root, '.git', 'config');
  const own = resolve(root, gitDir);
  const common = (await readText(join(own, 'commondir'))).trim();
  return join(common === '' ? dirname(dirname(own)) : resolve(own, common), 'config');
}

/** "" if there is no such regular file or it is too large. Follows no link and waits for no pipe. */
async function readText(path: string): Promise<string> {
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const { size, isFile } = await handle.stat().then((stats) => ({ size: stats.size, isFile: stats.isFile() }));
      return isFile && size <= FILE_MAX_BYTES ? await handle.readFile('utf8') : '';
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    if (isErrno(thrown)) return '';
    throw thrown;
  }
}
