import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readEnvironment } from '#src/config/env.js';
import { acceptConfig } from '#src/config/load.js';
import { resolvePaths } from '#src/config/paths.js';
import { type UnseenPaths, unseenPaths } from '#src/features/upstreams/unseen-paths.js';
import type { ServerSpec } from '#src/stores/upstream-servers.js';

let top: string;
let home: string;
let project: string;
let toolchain: string;
beforeAll(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'unseen-')));
  home = join(top, 'home');
  project = join(home, 'work/project');
  toolchain = join(home, '.node');
  const files = [
    ...['work/project/server.mjs', 'work/project/web/server.mjs', 'notes.db', 'lone.mjs', 'work/beside.mjs'],
    ...['servers/demo/package.json', 'servers/demo/dist/index.js', 'servers/demo/dist/package.json', 'plain/run.py'],
    ...['env/pyvenv.cfg', 'env/site.py', 'with blank/run.mjs', "it's/run.mjs", '.node/lib/cli.js'],
  ];
  for (const file of files) {
    mkdirSync(dirname(join(home, file)), { recursive: true });
    writeFileSync(join(home, file), '');
  }
  for (const program of ['.node/bin/tool', 'own/bin/tracker']) {
    mkdirSync(dirname(join(home, program)), { recursive: true });
    writeFileSync(join(home, program), '');
    chmodSync(join(home, program), 0o755);
  }
  mkdirSync(join(home, 'env/bin'));
  symlinkSync('/usr/bin/env', join(home, 'env/bin/python'));
  symlinkSync('servers/demo', join(home, 'linked'));
  symlinkSync('servers/demo/dist/index.js', join(home, 'link.mjs'));
});
afterAll(() => rmSync(top, { recursive: true, force: true }));

const EMPTY: ServerSpec = { command: [], url: '', usesCredential: false, hosts: [], paths: [], project: 'none' };

function unseen(command: readonly string[], spec: Partial<ServerSpec> = {}, root = project): UnseenPaths | null {
  const environment = {
    ...readEnvironment({ HOME: home, XDG_DATA_HOME: join(top, 'data') }),
    contextdHome: join(top, 'contextd'),
  };
  const paths = resolvePaths(environment, join(top, 'installed'));
  const toolchains = {
    mounts: [toolchain],
    hidden: [],
    path: [join(toolchain, 'bin')],
    variables: {},
    hostPath: [join(toolchain, 'bin'), join(home, 'own/bin')],
  };
  const hostNetwork = { certificates: [], caVariables: [], variables: {}, homeFiles: [] };
  const outside = { partsFor: () => ({ toolchains, allowedPaths: [], hostNetwork }) };
  const { sandbox: config } = acceptConfig('test', {});
  return unseenPaths({ project: root, spec: { ...EMPTY, ...spec, command } }, { outside, config, paths });
}

/** Files and directories of the host, below the home, and the directory that shows each with what it needs; '' for the project. */
const TARGETS: Readonly<Record<string, string>> = {
  'work/project/server.mjs': '',
  'work/project/web': '',
  'servers/demo/dist/index.js': 'servers/demo',
  'servers/demo/dist': 'servers/demo',
  'servers/demo': 'servers/demo',
  'plain/run.py': 'plain',
  plain: 'plain',
  'own/bin/tracker': 'own/bin',
  'env/bin/python': 'env',
  'with blank/run.mjs': 'with blank',
  "it's/run.mjs": "it's",
  // Nothing around these is only theirs.
  'work/beside.mjs': 'work/beside.mjs',
  'lone.mjs': 'lone.mjs',
  'notes.db': 'notes.db',
  // A link has no directory that could be granted, or is one that a sandbox does not follow.
  'link.mjs': 'servers/demo',
  'linked/dist/index.js': 'servers/demo',
};

/** How a command spells a path. */
const SPELLINGS: readonly ((path: string) => string)[] = [
  (path) => path,
  (path) => `${dirname(path)}/./nothing/../${basename(path)}`,
  (path) => `~/${relative(home, path)}`,
  (path) => relative(project, path),
  (path) => `./${relative(project, path)}`,
];

/** A name without a slash is a path only where it is a word. */
const inText = (path: string): string => (path.includes('/') ? path : `./${path}`);

/** Where a path stands in a command. */
const COMMANDS: readonly ((path: string) => string[])[] = [
  (path) => [inText(path), '--stdio'],
  (path) => ['node', path, 'serve'],
  (path) => ['node', '--import', path],
  (path) => ['node', `--config=${path}`],
  (path) => ['node', `--import=${path.startsWith('/') ? 'file://' : ''}${path}`],
  (path) => ['sh', '-c', `cd / && exec node "${inText(path)}" 2>&1`],
];
/** Of paths without blanks and quotes. */
const PLAIN_COMMANDS: readonly ((path: string) => string[])[] = [
  (path) => ['sh', '-c', `exec node ${inText(path)};true`],
  (path) => ['java', '-cp', `/nowhere/a.jar:${inText(path)}`, 'Main'],
];

describe('issue 34 a path of a command that its sandbox does not see', () => {
  it('issue 34 is found wherever and however the command names it, and what is proposed shows it', () => {
    let cases = 0;
    for (const [target, shows] of Object.entries(TARGETS))
      for (const spell of Object.values(SPELLINGS))
        for (const write of / |'/.test(target) ? COMMANDS : [...COMMANDS, ...PLAIN_COMMANDS]) {
          const spelled = spell(join(home, target));
          const words = write(spelled);
          // A bare word is a path only if it is a file.
          if (words.some((word) => word === 'web' || word.endsWith('=web'))) continue;
          cases += 1;
          const found = unseen(words);
          expect(found).toMatchObject({ names: [expect.any(String)], why: '', seeing: {} });
          expect(words.join(' ')).toContain(found?.names[0]);
          const seeing = found?.seeing ?? EMPTY;
          expect({ words, ...seeing }).toMatchObject({
            project: shows === '' ? 'read' : 'none',
            paths: shows === '' ? [] : [{ path: join(home, shows), isWritable: false }],
          });
          expect(unseen(seeing.command, seeing)).toBeNull();
        }
    expect(cases).toBeGreaterThan(500);
  });

  const seen: readonly (readonly string[])[] = [
    ['node', '-e', 'process.exit()'],
    ['npx', '-y', '@example/server-demo', '--read-only', 'https://mcp.example.com/a/b'],
    ['/usr/bin/env', 'sh', '-c', 'echo / // a/b'],
    ['tool', '--log=/dev/null', '/etc/hosts', '/no/such/file', 'no-such-file.mjs', '~nobody/x', ''],
    ['sh', '-c', `echo ${'x'.repeat(5_000)}/y`],
    // A directory of the project by a bare name is a word like any other.
    ['node', 'web'],
  ];
  it.each(seen)('issue 34 is not one that the host lacks or that every sandbox has: %s %s', (...command) => {
    expect(unseen(command)).toBeNull();
  });

  it('issue 34 is not one of a toolchain or of a directory that a person granted', () => {
    expect(unseen([join(toolchain, 'bin/tool'), join(toolchain, 'lib/cli.js')])).toBeNull();
    expect(unseen(['tool'])).toBeNull();
    const paths = [{ path: join(home, 'servers'), isWritable: true }];
    expect(unseen(['node', join(home, 'servers/demo/dist/index.js')], { paths })).toBeNull();
    for (const access of ['read', 'write'] as const)
      expect(unseen(['node', 'server.mjs', './web', join(project, 'web')], { project: access })).toBeNull();
  });

  it('issue 34 is also a program that only the PATH of the person has', () => {
    const found = unseen(['tracker', 'serve']);
    expect(found?.names).toEqual([join(home, 'own/bin/tracker')]);
    expect(found?.seeing?.command).toEqual([join(home, 'own/bin/tracker'), 'serve']);
  });

  it('issue 34 is looked up in the directory in which the person wrote the command', () => {
    const found = unseen(['node', 'run.py'], { directory: join(home, 'plain') });
    expect(found?.seeing?.command).toEqual(['node', join(home, 'plain/run.py')]);
    const within = unseen(['node', 'server.mjs'], { directory: join(project, 'web') });
    expect(within?.seeing).toEqual({
      command: ['node', join(project, 'web/server.mjs')],
      paths: [],
      project: 'read',
    });
  });

  it('issue 34 is named by where it really is if a directory on the way is a link', () => {
    const command = ['node', join(home, 'linked/dist/index.js')];
    expect(unseen(command)?.seeing?.command).toEqual(['node', join(home, 'servers/demo/dist/index.js')]);
    // The directory that the link leads to is granted, but not the link.
    const paths = [{ path: join(home, 'servers/demo'), isWritable: false }];
    expect(unseen(command, { paths })?.seeing).toMatchObject({
      command: ['node', expect.stringContaining('servers')],
      paths,
    });
  });

  it('issue 34 is not seen in a project that is hidden, also if a directory around it was granted', () => {
    const paths = [{ path: join(home, 'work'), isWritable: false }];
    for (const command of [
      ['node', 'server.mjs'],
      ['node', join(project, 'server.mjs')],
    ])
      expect(unseen(command, { paths })?.seeing).toEqual({ command, paths, project: 'read' });
  });

  it('issue 34 keeps what was granted, and names all paths at once', () => {
    const paths = [
      { path: join(home, 'servers/demo/dist'), isWritable: false },
      { path: join(home, 'env'), isWritable: true },
    ];
    const command = ['node', join(home, 'servers/demo/package.json'), join(home, 'plain/run.py'), 'server.mjs'];
    const found = unseen(command, { paths });
    expect(found?.names).toHaveLength(3);
    expect(found?.seeing).toEqual({
      command,
      project: 'read',
      paths: [
        ...paths,
        { path: join(home, 'servers/demo/package.json'), isWritable: false },
        { path: join(home, 'plain'), isWritable: false },
      ],
    });
  });

  it('issue 34 never proposes more than was named if that is a home, holds the project, or is of contextd', () => {
    const elsewhere = join(top, 'elsewhere');
    mkdirSync(elsewhere);
    for (const root of [project, elsewhere])
      expect(unseen(['node', join(home, 'lone.mjs')], {}, root)?.seeing?.paths).toEqual([
        { path: join(home, 'lone.mjs'), isWritable: false },
      ]);
    for (const path of [home, join(home, 'work'), top]) {
      const found = unseen(['npx', 'files', path]);
      for (const { path: granted } of found?.seeing?.paths ?? []) expect(granted).toBe(path);
    }
    mkdirSync(join(top, 'contextd/config'), { recursive: true });
    const own = unseen(['node', join(top, 'contextd/config')]);
    expect(own).toMatchObject({ seeing: null, why: expect.stringContaining('contextd keeps its own files') });
  });
});
