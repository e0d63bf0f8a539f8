import { dirname, join } from 'node:path';
import { PROTECTED_NAMES } from '../workspace/protected-names.ts';
import { escapeAnyCase, escapeRegex, globToRegex, literal, quote, regex, rule, subpath } from './sbpl.ts';
import {
  MACH_SERVICES,
  READABLE_FILES,
  READABLE_TREES,
  SYSCTL_PREFIXES,
  SYSCTLS,
  WRITABLE_DEVICES,
} from './system-places.ts';

/** Every path here is a real one: the kernel compares with what links lead to. */
export interface ProfileInput {
  readonly workspace: string;
  /** Of a worktree: writable, protected like `.git`. */
  readonly commonGitDir: string | null;
  readonly roPaths: readonly string[];
  /** Links by which read-only directories are also named. */
  readonly links: readonly string[];
  /** Globs relative to the workspace. */
  readonly deny: readonly string[];
  /** Private to one run: temporary files, the home, and its sockets if it has a directory for them. */
  readonly privateDirs: readonly string[];
  /** Whether unix sockets may be used, in the private directories. */
  readonly sockets: boolean;
  /** A tool's bundle and the programs that run it. */
  readonly programs: readonly string[];
}

/** In a git directory: what makes git on the host run something or read another configuration (design §5). */
const GIT_PROTECTED = [
  'hooks',
  'config',
  'config.worktree',
  'commondir',
  'info/attributes',
  'modules/([^/]+/)+hooks',
  'modules/([^/]+/)+config',
  'worktrees/[^/]+/commondir',
  'worktrees/[^/]+/config.worktree',
] as const;

/** Protected at the workspace's root only: packages carry such files about, and nothing reads them there. */
const ROOT_ONLY: readonly string[] = [
  '.opencode',
  'opencode.json',
  'opencode.jsonc',
  '.agents',
  '.husky',
  '.vscode',
  '.idea',
  'contextd.lock',
];

/** Reading, the asking whether something is there, and the loading of libraries. */
const READ = 'file-read* file-test-existence file-map-executable';

/**
 * The whole profile as text. Everything is denied but what stands here; of two rules that match, the later one wins, so
 * what is protected and what is hidden comes last.
 */
export function buildProfile(input: ProfileInput): string {
  const writable = [input.workspace, ...(input.commonGitDir === null ? [] : [input.commonGitDir])];
  const readable = [...READABLE_TREES, ...input.roPaths, ...input.programs];
  return [
    '(version 1)',
    '(deny default)',
    '(allow process-fork)',
    '(allow signal (target same-sandbox))',
    '(allow process-info* (target same-sandbox))',
    ...systemRules(),
    ...rule('allow', READ, readable.map(subpath)),
    ...rule('allow', READ, READABLE_FILES.map(literal)),
    ...rule('allow', 'file-read-metadata file-test-existence', ancestorsOf(input).map(literal)),
    ...rule('allow', 'file-write-data file-ioctl', WRITABLE_DEVICES.map(literal)),
    ...rule('allow', `${READ} file-write* file-ioctl`, [...writable, ...input.privateDirs].map(subpath)),
    ...rule('allow', 'process-exec', [...readable, ...writable, ...input.privateDirs].map(subpath)),
    ...(input.sockets ? socketRules(input.privateDirs) : []),
    ...rule('deny', 'file-write-unlink', [...writable, ...input.privateDirs].map(literal)),
    ...rule('deny', 'file-write*', protectedFilters(input)),
    // A second name of a file would not match what its first name is refused for.
    '(deny file-link)',
    ...rule('deny', 'file* process-exec', hiddenFilters(input)),
    '',
  ].join('\n');
}

function systemRules(): string[] {
  return [
    ...rule('allow', 'sysctl-read', [
      ...SYSCTLS.map((name) => `(sysctl-name ${quote(name)})`),
      ...SYSCTL_PREFIXES.map((prefix) => `(sysctl-name-prefix ${quote(prefix)})`),
    ]),
    ...rule(
      'allow',
      'mach-lookup',
      MACH_SERVICES.map((name) => `(global-name ${quote(name)})`),
    ),
  ];
}

/** Only between processes of this very run: no address of any network, no socket of anybody else. */
function socketRules(dirs: readonly string[]): string[] {
  return [
    '(allow system-socket (socket-domain AF_UNIX))',
    ...rule(
      'allow',
      'network-bind network-inbound',
      dirs.map((dir) => `(local unix-socket ${subpath(dir)})`),
    ),
    ...rule(
      'allow',
      'network-outbound',
      dirs.map((dir) => `(remote unix-socket ${subpath(dir)})`),
    ),
  ];
}

/** Every directory on the way to something visible: a program resolves paths name by name. */
function ancestorsOf(input: ProfileInput): string[] {
  const places = [
    input.workspace,
    ...(input.commonGitDir === null ? [] : [input.commonGitDir]),
    ...input.roPaths,
    ...input.links,
    ...input.programs,
    ...input.privateDirs,
    ...READABLE_TREES,
  ];
  const found = new Set<string>(input.links);
  for (const place of places) {
    for (let parent = dirname(place); parent !== '/' && !found.has(parent); parent = dirname(parent)) found.add(parent);
  }
  return [...found].sort();
}

/**
 * Names, not only what is there: these cannot be made either. `.git` itself can be neither made, nor renamed, nor
 * replaced; what lies in it can be written, but for its protected parts.
 */
function protectedFilters({ workspace, commonGitDir }: ProfileInput): string[] {
  const root = `^${escapeRegex(workspace)}/`;
  const anywhere = PROTECTED_NAMES.filter((name) => !ROOT_ONLY.includes(name)).map(escapeAnyCase);
  const atRoot = ROOT_ONLY.map(escapeAnyCase);
  const gitParts = GIT_PROTECTED.map(anyCasePattern).join('|');
  return [
    regex(`${root}(${atRoot.join('|')})(/.*)?$`),
    regex(`${root}(.*/)?(${anywhere.join('|')})(/.*)?$`),
    regex(`${root}(.*/)?${escapeAnyCase('.git')}$`),
    regex(`${root}(.*/)?${escapeAnyCase('.git')}/(${gitParts})(/.*)?$`),
    ...(commonGitDir === null ? [] : [regex(`^${escapeRegex(commonGitDir)}/(${gitParts})(/.*)?$`)]),
  ];
}

/** As in GIT_PROTECTED: letters in either case, dots as dots, the rest as it stands. */
function anyCasePattern(pattern: string): string {
  return pattern.replaceAll(/[a-z.]/g, escapeAnyCase);
}

function hiddenFilters({ workspace, deny }: ProfileInput): string[] {
  return deny.map((glob) => regex(`^${escapeRegex(join(workspace, '/'))}${globToRegex(glob)}$`));
}
