import { dirname, join } from 'node:path';
import { PROTECTED_FAMILIES, PROTECTED_NAMES, PROTECTED_PLACES } from '../../guard/table/protected-names.ts';
import { escapeAnyCase, escapeRegex, globToRegex, literal, quote, regex, rule, subpath } from './sbpl.ts';
import {
  MACH_SERVICES,
  READABLE_FILES,
  READABLE_TREES,
  SYSCTL_PREFIXES,
  SYSCTLS,
  WRITABLE_DEVICES,
} from './system-places.ts';

/** Every path is a real path: the kernel compares with the target of links. */
export interface ProfileInput {
  readonly workspace: string;
  /** True: the workspace and the common git directory are not written. */
  readonly isReadOnly: boolean;
  /** The common git directory of a worktree: writable, protected like `.git`. */
  readonly commonGitDir: string | null;
  /** Directories outside the workspace that a person allowed: writable, protected like the workspace. */
  readonly allowedPaths: readonly string[];
  readonly roPaths: readonly string[];
  /** Files in read-only directories that may hold credentials. */
  readonly hiddenFiles: readonly string[];
  /** Links that lead to read-only directories. */
  readonly links: readonly string[];
  /** Globs relative to the workspace. */
  readonly deny: readonly string[];
  /** Private to one run: temporary files, the home, and the directory of its sockets if there is one. */
  readonly privateDirs: readonly string[];
  /** True if unix sockets may be used in the private directories. */
  readonly sockets: boolean;
  /** A tool's bundle and the programs that run it. */
  readonly programs: readonly string[];
}

/** Paths in a git directory that make git on the host run something or read another configuration (docs/git.md). */
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

/** Protected only at the workspace's root: packages contain such files, and nothing reads them there. */
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

/** Reading, checking for existence, and loading libraries. */
const READ = 'file-read* file-test-existence file-map-executable';

/**
 * The whole profile as text. It denies everything that it does not list. If two rules match, the later one wins, so
 * protected and hidden paths come last.
 */
export function buildProfile(input: ProfileInput): string {
  const writable = writableTrees(input);
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
    ...rule('deny', 'file-write*', [...protectedFilters(input), ...readOnlyFilters(input)]),
    // A hard link would not match the rule that protects the file's first name.
    '(deny file-link)',
    ...rule('deny', 'file* process-exec', [...hiddenFilters(input), ...input.hiddenFiles.map(literal)]),
    '',
  ].join('\n');
}

function readOnlyFilters({ isReadOnly, workspace, commonGitDir }: ProfileInput): string[] {
  return isReadOnly ? [workspace, ...(commonGitDir === null ? [] : [commonGitDir])].map(subpath) : [];
}

function writableTrees({ workspace, commonGitDir, allowedPaths }: ProfileInput): string[] {
  return [workspace, ...(commonGitDir === null ? [] : [commonGitDir]), ...allowedPaths];
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

/** Only between processes of this run: no network address, and no other socket. */
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

/** Every directory on the way to something visible: a program resolves a path name by name. */
function ancestorsOf(input: ProfileInput): string[] {
  const places = [
    ...writableTrees(input),
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
 * By name, so that a path that does not exist cannot be created either. `.git` itself cannot be created, renamed or
 * replaced; its content can be written, except for the protected parts.
 */
function protectedFilters({ workspace, allowedPaths, commonGitDir }: ProfileInput): string[] {
  const common = commonGitDir === null ? [] : [commonDirFilter(commonGitDir)];
  return [...[workspace, ...allowedPaths].flatMap(filtersOfTree), ...common];
}

function commonDirFilter(commonGitDir: string): string {
  return regex(`^${escapeRegex(commonGitDir)}/(${GIT_PROTECTED.map(anyCasePattern).join('|')})(/.*)?$`);
}

function filtersOfTree(tree: string): string[] {
  const root = `^${escapeRegex(tree)}/`;
  const families = PROTECTED_FAMILIES.map((family) => family.split('*').map(escapeAnyCase).join('[^/]*'));
  const names = PROTECTED_NAMES.filter((name) => !ROOT_ONLY.includes(name)).map(escapeAnyCase);
  const anywhere = [...names, ...families, ...PROTECTED_PLACES.map(escapeAnyCase)];
  const atRoot = ROOT_ONLY.map(escapeAnyCase);
  const gitParts = GIT_PROTECTED.map(anyCasePattern).join('|');
  return [
    regex(`${root}(${atRoot.join('|')})(/.*)?$`),
    regex(`${root}(.*/)?(${anywhere.join('|')})(/.*)?$`),
    regex(`${root}(.*/)?${escapeAnyCase('.git')}$`),
    regex(`${root}(.*/)?${escapeAnyCase('.git')}/(${gitParts})(/.*)?$`),
  ];
}

/** For the patterns of GIT_PROTECTED: matches letters in either case and dots literally; keeps the rest as it is. */
function anyCasePattern(pattern: string): string {
  return pattern.replaceAll(/[a-z.]/g, escapeAnyCase);
}

function hiddenFilters({ workspace, allowedPaths, deny }: ProfileInput): string[] {
  return [workspace, ...allowedPaths].flatMap((tree) =>
    deny.map((glob) => regex(`^${escapeRegex(join(tree, '/'))}${globToRegex(glob)}$`)),
  );
}
