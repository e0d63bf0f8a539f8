import fc from 'fast-check';
import { type Charge, FORMAT, type Parts } from './charges.ts';
import type { Entry } from './config-text.ts';
import type { Family, Step } from './shape.ts';

/** A repository, without configuration and hooks, that git finds from a directory of the project. */
export interface Carrier {
  readonly families: readonly Family[];
  readonly parts: Parts;
  /** The settings that this form of repository needs. */
  readonly entries: readonly Entry[];
  readonly steps: readonly Step[];
  readonly prepare: string | null;
}

/** The kinds of repositories, by how git finds them. */
export function carriers(head: Charge['head']): fc.Arbitrary<Carrier> {
  return fc.oneof(
    { weight: 3, arbitrary: nested(head) },
    { weight: 2, arbitrary: bare(head) },
    { weight: 4, arbitrary: pointed(head) },
    { weight: 2, arbitrary: linked(head) },
    { weight: 4, arbitrary: withCommonDir(head) },
    { weight: 1, arbitrary: prepared() },
  );
}

/** In these, the directory that holds the configuration also decides where the work tree is. */
export function carriersWithoutCommonDir(): fc.Arbitrary<Carrier> {
  return fc.oneof(nested('files'), pointed('files'), linked('files'));
}

/** In these, the person made the repository: a clone, or a worktree of the project. */
export function preparedCarriers(): fc.Arbitrary<Carrier> {
  return fc.constantFrom(
    { ...cloned },
    {
      families: ['prepared worktree'],
      parts: { gitDir: '/.git/worktrees/wt-@NAME@', commonDir: '/.git', workTree: 'wt-@NAME@', tip: '@HEAD@' },
      entries: [],
      steps: [],
      prepare: 'git worktree add -q --detach @NAME@/wt-@NAME@',
    },
  );
}

const cloned: Carrier = {
  families: ['prepared clone'],
  parts: { gitDir: 'sub/.git', commonDir: 'sub/.git', workTree: 'sub', tip: '@HEAD@' },
  entries: [],
  steps: [],
  prepare: 'git clone -q -s . @NAME@/sub',
};

function prepared(): fc.Arbitrary<Carrier> {
  return fc.constant(cloned);
}

function nested(head: Charge['head']): fc.Arbitrary<Carrier> {
  return body('sub/.git', 'sub/.git', head).map((steps) => ({
    families: ['nested repository'],
    parts: partsOf('sub/.git', 'sub/.git', 'sub', head),
    entries: [],
    steps,
    prepare: null,
  }));
}

/** A directory of any name that is a repository; `core.bare` and `core.worktree` give it a work tree. */
function bare(head: Charge['head']): fc.Arbitrary<Carrier> {
  return fc
    .tuple(body('lib', 'lib', head), fc.constantFrom('.', './', './.', 'files'))
    .map(([steps, workTree]): Carrier => {
      const entries = [
        FORMAT,
        { section: 'core', key: 'bare', value: 'false' },
        { section: 'core', key: 'worktree', value: workTree },
      ];
      const tree = workTree === 'files' ? 'lib/files' : 'lib';
      const madeTree: Step[] = workTree === 'files' ? [{ do: 'mkdir', path: 'lib/files' }] : [];
      const parts = partsOf('lib', 'lib', tree, head);
      return { families: ['bare repository'], parts, entries, steps: [...steps, ...madeTree], prepare: null };
    });
}

/** A `.git` file. git removes the line ends at its end and nothing else. */
function pointed(head: Charge['head']): fc.Arbitrary<Carrier> {
  return fc
    .constantFrom('lib', 'lib/deep/er', 'lib ', 'lib\t', 'l i b')
    .chain((store) => fc.tuple(fc.constant(store), body(store, store, head), pointer(store)))
    .map(([store, steps, pointing]) => ({
      families: ['pointer'],
      parts: partsOf(store, store, 'sub', head),
      entries: [],
      steps: [...steps, ...pointing],
      prepare: null,
    }));
}

function pointer(store: string): fc.Arbitrary<Step[]> {
  const end = fc.constantFrom('', '\n', '\r\n', '\n\n', '\r', '\n\r\n');
  const way = fc.constantFrom(
    { to: `../${store}`, steps: [] },
    { to: `@HERE@/${store}`, steps: [] },
    { to: `..//./${store}/.`, steps: [] },
    { to: `../way/${store}`, steps: [link('way', '.')] },
    { to: `@HERE@/way2/${store}`, steps: [link('way', '.'), link('way2', 'way')] },
    { to: '../near', steps: [link('near', store)] },
    { to: '../near', steps: [link('near', `@HERE@/${store}`)] },
  );
  return fc.tuple(way, end, fc.boolean()).map(([{ to, steps }, lineEnd, isBehindLink]): Step[] => {
    const text = `gitdir: ${to}${lineEnd}`;
    if (!isBehindLink) return [...steps, write('sub/.git', text)];
    return [...steps, write('pointer.txt', text), link('sub/.git', '../pointer.txt')];
  });
}

/** `.git` as a symbolic link to a directory of another name, directly or through another link. */
function linked(head: Charge['head']): fc.Arbitrary<Carrier> {
  return fc
    .tuple(
      body('lib', 'lib', head),
      fc.constantFrom<Step[]>(
        [link('sub/.git', '../lib')],
        [link('sub/.git', '@HERE@/lib')],
        [link('near', 'lib'), link('sub/.git', '../near')],
        [link('near', '../@NAME@/lib'), link('near2', '@HERE@/near'), link('sub/.git', '../near2')],
      ),
    )
    .map(([steps, links]) => ({
      families: ['link for .git'],
      parts: partsOf('lib', 'lib', 'sub', head),
      entries: [],
      steps: [...steps, ...links],
      prepare: null,
    }));
}

/**
 * A git directory whose `commondir` names another directory. That one holds configuration and hooks and needs no
 * HEAD, so it does not look like a repository.
 */
function withCommonDir(head: Charge['head']): fc.Arbitrary<Carrier> {
  const placed = fc.constantFrom(
    { gitDir: 'v/worktrees/w', common: 'v', text: '../..', steps: [write('sub/.git', 'gitdir: ../v/worktrees/w\n')] },
    { gitDir: 'w', common: 'v', text: '../v', steps: [write('sub/.git', 'gitdir: ../w')] },
    { gitDir: 'w', common: 'v', text: '@HERE@/v', steps: [write('sub/.git', 'gitdir: @HERE@/w\n')] },
    { gitDir: 'w', common: 'v', text: '../near', steps: [link('near', 'v'), link('sub/.git', '../w')] },
    { gitDir: 'sub/.git', common: 'v', text: '../../v', steps: [] },
    { gitDir: 'sub/.git', common: 'sub/.git/in', text: 'in', steps: [] },
    { gitDir: 'sub/.git', common: 'docs/a/b', text: '../../docs/a/b/.', steps: [] },
  );
  return placed
    .chain((where) =>
      fc.tuple(
        fc.constant(where),
        body(where.gitDir, where.common, head),
        fc.constantFrom('', '\n', '\r\n', '\n\n'),
        fc.constantFrom('no HEAD', 'no HEAD', 'HEAD'),
      ),
    )
    .map(([{ gitDir, common, text, steps: ways }, steps, end, hasHead]) => ({
      families: ['commondir'],
      parts: partsOf(gitDir, common, 'sub', head),
      entries: [],
      steps: [
        ...steps,
        write(`${gitDir}/commondir`, `${text}${end}`),
        ...(hasHead === 'HEAD' ? [write(`${common}/HEAD`, 'ref: refs/heads/m\n')] : []),
        ...ways,
        { do: 'mkdir', path: 'sub' } as const,
      ],
      prepare: null,
    }));
}

/** HEAD, objects and refs in the forms that git accepts; the objects are the project's own. */
function body(gitDir: string, common: string, head: Charge['head']): fc.Arbitrary<Step[]> {
  return fc.tuple(headSteps(gitDir, common, head), objectsOf(common), refsOf(common)).map((groups) => groups.flat());
}

function headSteps(gitDir: string, common: string, head: Charge['head']): fc.Arbitrary<Step[]> {
  const tip = tipOf(head);
  const branch = write(`${common}/refs/heads/m`, `${tip}\n`);
  const resolved: Step[][] = [
    [write(`${gitDir}/HEAD`, 'ref: refs/heads/m\n'), branch],
    [write(`${gitDir}/HEAD`, 'ref:  refs/heads/m  '), branch],
    [write(`${gitDir}/HEAD`, `${tip}\n`)],
    ...(gitDir === common ? [[link(`${gitDir}/HEAD`, 'refs/heads/m'), branch]] : []),
  ];
  const unborn: Step[] = [write(`${gitDir}/HEAD`, 'ref: refs/heads/none\n')];
  return fc.constantFrom(...resolved, ...(head === 'any' ? [unborn] : []));
}

function objectsOf(common: string): fc.Arbitrary<Step[]> {
  return fc.constantFrom<Step[]>(
    [write(`${common}/objects/info/alternates`, '@ROOT@/.git/objects\n')],
    [write(`${common}/objects/info/alternates`, '@ROOT@/.git/objects\n')],
    [link(`${common}/objects`, '@ROOT@/.git/objects')],
  );
}

function refsOf(common: string): fc.Arbitrary<Step[]> {
  return fc.constantFrom<Step[]>([{ do: 'mkdir', path: `${common}/refs` }], [write(`${common}/refs/keep`, '')]);
}

function partsOf(gitDir: string, commonDir: string, workTree: string, head: Charge['head']): Parts {
  return { gitDir, commonDir, workTree, tip: tipOf(head) };
}

function tipOf(head: Charge['head']): string {
  return head === 'empty' ? '@EMPTY@' : '@HEAD@';
}

function write(path: string, text: string): Step {
  return { do: 'write', path, text };
}

function link(path: string, to: string): Step {
  return { do: 'link', path, to };
}
