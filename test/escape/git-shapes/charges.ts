import fc from 'fast-check';
import type { Entry } from './config-text.ts';
import { type Family, type Step, upFrom } from './shape.ts';

/** The places where git looks for the parts of a repository. */
export interface Parts {
  /** Holds HEAD and the state of an unfinished rebase. */
  readonly gitDir: string;
  /** Holds the configuration, hooks, objects and refs. */
  readonly commonDir: string;
  readonly workTree: string;
  /** The commit that HEAD names, or the one at which an unfinished rebase began. */
  readonly tip: string;
}

/** What makes git run a program: settings and the files they need. */
export interface Charge {
  readonly families: readonly Family[];
  /**
   * `files`: it runs only on a commit with files. `empty`: it runs only on a commit without files, as there is no
   * index.
   */
  readonly head: 'any' | 'files' | 'empty';
  readonly entries: readonly Entry[];
  steps(parts: Parts): readonly Step[];
}

const INLINE = ':>@MARK@;cat';
const program = fc.constantFrom('@CANARY@', INLINE, `${INLINE} #`);
const HOOK = '#!/bin/sh\n:>@MARK@\n';

/** Hooks that the person's commands run in every repository. */
const RUN_HOOKS = ['post-index-change', 'reference-transaction'] as const;
/** Hooks that other commands run, or that a repository without commits never runs. */
const OTHER_HOOKS = [
  'post-checkout',
  'pre-commit',
  'prepare-commit-msg',
  'commit-msg',
  'post-commit',
  'post-rewrite',
  'pre-rebase',
  'post-merge',
  'pre-push',
  'fsmonitor-watchman',
  'pre-auto-gc',
  'applypatch-msg',
] as const;

export const hookName = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...RUN_HOOKS) },
  { weight: 1, arbitrary: fc.constantFrom(...OTHER_HOOKS) },
);

export function hook(path: string): Step {
  return { do: 'write', path, text: HOOK, executable: true };
}

/** git reads `core.bare`, `core.worktree` and extensions only from a configuration that states its format version. */
export const FORMAT: Entry = { section: 'core', key: 'repositoryformatversion', value: '0' };

function setting(name: string, value: string): Entry {
  const [section = '', ...rest] = name.split('.');
  const key = rest.pop() ?? '';
  return { section, key, value, ...(rest.length > 0 ? { subsection: rest.join('.') } : {}) };
}

function keyCharge(head: Charge['head'], ...entries: (readonly [string, string])[]): Charge {
  const settings = entries.map(([name, value]) => setting(name, value));
  return { families: ['config key'], head, entries: settings, steps: () => [] };
}

const fsmonitor = program.map((value) => keyCharge('any', ['core.fsmonitor', value]));
const alias = fc.constant(keyCharge('any', ['alias.st', `!${INLINE}`]));
const signature = fc
  .constantFrom('gpg.program', 'gpg.openpgp.program')
  .map((name) => keyCharge('files', ['log.showsignature', 'true'], [name, '@CANARY@']));
/** These programs end at once: otherwise git and the program would wait for each other. */
const transport = fc.constantFrom(
  keyCharge('any', ['remote.origin.url', 'ssh://host.example.com/x'], ['core.sshcommand', ':>@MARK@;false']),
  keyCharge('any', ['remote.origin.url', '@ROOT@'], ['remote.origin.uploadpack', ':>@MARK@;false']),
  keyCharge('any', ['remote.origin.url', 'ext::sh -c :>@MARK@'], ['protocol.ext.allow', 'always']),
);

/** Keys that run a program only in commands that this test cannot run: they need a terminal or the network. */
const otherKey = fc
  .tuple(
    fc.constantFrom(
      'core.pager',
      'pager.status',
      'core.editor',
      'sequence.editor',
      'core.askpass',
      'core.gitproxy',
      'credential.helper',
      'diff.external',
      'merge.x.driver',
      'mergetool.x.cmd',
      'difftool.x.cmd',
      'submodule.x.update',
      'uploadpack.packobjectshook',
      'gc.recentobjectshook',
      'trailer.x.command',
    ),
    program,
  )
  .map(([name, value]) => keyCharge('any', [name, name.endsWith('update') ? `!${value}` : value]));

/** Drivers need attributes in addition to the setting, in the work tree or in the repository. */
const driver = fc
  .tuple(
    fc.constantFrom(
      { key: 'filter.x.smudge', attribute: 'filter=x' },
      { key: 'filter.x.process', attribute: 'filter=x' },
      { key: 'diff.x.textconv', attribute: 'diff=x' },
    ),
    program,
    fc.boolean(),
  )
  .map(([{ key, attribute }, value, inTree]) => ({
    families: ['config key', 'attributes'] as const,
    head: 'files' as const,
    entries: [setting(key, value)],
    steps: ({ commonDir, workTree }: Parts): Step[] => [
      {
        do: 'write',
        path: inTree ? `${workTree}/.gitattributes` : `${commonDir}/info/attributes`,
        text: `* ${attribute}\n`,
      },
    ],
  }));

const hooks = fc.tuple(hookName, fc.constantFrom('plain', 'plain', 'link', 'linked directory')).map(
  ([name, how]): Charge => ({
    families: ['hooks'],
    head: 'files',
    entries: [],
    steps: ({ commonDir }) => {
      if (how === 'plain') return [hook(`${commonDir}/hooks/${name}`)];
      if (how === 'link')
        return [hook('notes.sh'), { do: 'link', path: `${commonDir}/hooks/${name}`, to: '@HERE@/notes.sh' }];
      return [hook(`notes/${name}`), { do: 'link', path: `${commonDir}/hooks`, to: '@HERE@/notes' }];
    },
  }),
);

const hooksPath = fc.tuple(hookName, fc.boolean()).map(
  ([name, isAbsolute]): Charge => ({
    families: ['hooks', 'config key'],
    head: 'files',
    entries: [setting('core.hookspath', isAbsolute ? '@HERE@/sub/notes' : 'notes')],
    steps: ({ workTree }) => [hook(isAbsolute ? `sub/notes/${name}` : `${workTree}/notes/${name}`)],
  }),
);

/** Addresses of the port that records connections. ssh is recorded by the program in its place. */
const hostAddress = fc.constantFrom(
  'git://127.0.0.1:@PORT@/@ID@',
  'http://127.0.0.1:@PORT@/@ID@',
  'ssh://127.0.0.1:@PORT@/@ID@',
  'a@127.0.0.1:@ID@',
);

/** With a promisor remote, a branch whose commit is missing makes `git branch -v` fetch it. */
const promisor = fc
  .tuple(
    hostAddress,
    fc.constantFrom<(address: string) => readonly Entry[]>(
      (url) => [setting('remote.o.url', url), setting('remote.o.promisor', 'true')],
      (url) => [setting('remote.o.url', url), setting('remote.o.partialclonefilter', 'blob:none')],
      (url) => [
        { section: 'core', key: 'repositoryformatversion', value: '1' },
        setting('remote.o.url', url),
        setting('extensions.partialclone', 'o'),
      ],
      (url) => [{ section: 'remote', subsection: url, key: 'promisor', value: 'yes' }],
    ),
  )
  .map(
    ([url, entriesFor]): Charge => ({
      families: ['promisor'],
      head: 'any',
      entries: entriesFor(url),
      steps: ({ commonDir }) => [{ do: 'write', path: `${commonDir}/refs/heads/gone`, text: `${MISSING}\n` }],
    }),
  );
const MISSING = '0123456789012345678901234567890123456789';

/** `git push` runs the hooks of a repository on this machine. */
const localAddress = fc
  .tuple(
    fc.constantFrom<{ address: string; steps: readonly Step[] }>(
      { address: '@TRAP@', steps: [] },
      { address: 'file://@TRAP@', steps: [] },
      { address: 'file://%2e/%2e%2e/@TRAP@', steps: [] },
      { address: '@HERE@/@TRAP_RELATIVE@', steps: [] },
      { address: '@HERE@/way', steps: [{ do: 'link', path: 'way', to: '@TRAP@' }] },
      { address: '@HERE@/way', steps: [{ do: 'link', path: 'way.git', to: '@TRAP@' }] },
      { address: '@HERE@/way', steps: [{ do: 'write', path: 'way', text: 'gitdir: @TRAP@\n' }] },
    ),
    fc.constantFrom<(address: string) => readonly (readonly [string, string])[]>(
      (address) => [['remote.origin.url', address]],
      (address) => [
        ['remote.origin.url', 'https://example.com/a'],
        ['remote.origin.pushurl', address],
      ],
      (address) => [
        ['remote.o.url', address],
        ['remote.pushdefault', 'o'],
      ],
    ),
  )
  .map(
    ([{ address, steps }, entriesFor]): Charge => ({
      families: ['local address'],
      head: 'files',
      entries: [
        ...entriesFor(address).map(([name, value]) => setting(name, value)),
        ...['origin', 'o'].map((name) => setting(`remote.${name}.push`, 'HEAD:refs/heads/pushed')),
      ],
      steps: () => steps,
    }),
  );

/** What keeps every git in a repository waiting: a pipe where it opens a file. */
const pipe = fc
  .constantFrom<(parts: Parts) => string>(
    ...['packed-refs', 'refs/heads/z', 'info/exclude', 'shallow'].map(
      (name) =>
        ({ commonDir }: Parts) =>
          `${commonDir}/${name}`,
    ),
    ({ gitDir }) => `${gitDir}/index`,
    ({ workTree }) => `${workTree}/.gitignore`,
    ({ workTree }) => `${workTree}/.gitattributes`,
  )
  .map(
    (pathIn): Charge => ({
      families: ['pipe'],
      head: 'files',
      entries: [],
      steps: (parts) => [{ do: 'pipe', path: pathIn(parts) }],
    }),
  );

/** A killed git leaves these. */
const staleLock = fc
  .tuple(
    fc.constantFrom<(parts: Parts) => string>(
      ({ gitDir }) => `${gitDir}/index.lock`,
      ({ commonDir }) => `${commonDir}/refs/heads/new.lock`,
    ),
    fc.constantFrom('', 'half of an index'),
  )
  .map(
    ([pathIn, text]): Charge => ({
      families: ['stale lock'],
      head: 'files',
      entries: [],
      steps: (parts) => [{ do: 'write', path: pathIn(parts), text }],
    }),
  );

/** Everything that makes git run a program, connect or wait without an unfinished rebase. */
export const charges: fc.Arbitrary<Charge> = fc.oneof(
  { weight: 7, arbitrary: fsmonitor },
  { weight: 5, arbitrary: hooks },
  { weight: 3, arbitrary: hooksPath },
  { weight: 3, arbitrary: driver },
  { weight: 1, arbitrary: alias },
  { weight: 1, arbitrary: signature },
  { weight: 2, arbitrary: transport },
  { weight: 1, arbitrary: otherKey },
  { weight: 4, arbitrary: promisor },
  { weight: 4, arbitrary: localAddress },
  { weight: 1, arbitrary: pipe },
  { weight: 1, arbitrary: staleLock },
);

/** Charges for a configuration that the person's own configuration includes: they need no other file. */
export const keyCharges: fc.Arbitrary<Charge> = fc.oneof(
  { weight: 3, arbitrary: fsmonitor },
  alias,
  signature,
  fc.constantFrom('filter.team.smudge', 'diff.team.textconv').map((name) => keyCharge('any', [name, '@CANARY@'])),
);

/** `core.worktree` outside the project: `git reset --hard` writes there. */
export function worktreeEscape(gitDir: string): fc.Arbitrary<Charge> {
  const up = upFrom(gitDir);
  const link: Step = { do: 'link', path: 'lnk', to: '@OUT@' };
  const chain: Step = { do: 'link', path: 'lnk2', to: 'lnk' };
  return fc
    .constantFrom<{ value: string; steps: readonly Step[] }>(
      { value: '@OUT@', steps: [] },
      { value: `${up}@OUT_RELATIVE@`, steps: [] },
      { value: `${up}lnk`, steps: [link] },
      { value: '@HERE@/lnk', steps: [link] },
      { value: `${up}./lnk2/.`, steps: [link, chain] },
      { value: `${up}lnk/../@NAME@`, steps: [link] },
    )
    .map(({ value, steps }) => ({
      families: ['worktree escape'],
      head: 'files',
      entries: [FORMAT, setting('core.worktree', value)],
      steps: () => steps,
    }));
}
