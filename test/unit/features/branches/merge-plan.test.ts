import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { candidatesOf, NO_RESOLUTIONS, planMerge, type Resolutions } from '#src/features/branches/files/merge-plan.js';
import type { Entry, EntryKind, Listing } from '#src/sandbox/contract/merge-messages.js';
import { propertyRuns } from '../../../helpers/property-runs.ts';

/** `<kind><mode> <content>`: `f644 a`, `d755`, `l target`, `s600`. */
type State = string;
type Tree = Readonly<Record<string, State>>;

interface Case {
  readonly open: Tree;
  readonly base: Tree;
  readonly branch: Tree;
  readonly resolutions?: Partial<Resolutions>;
  readonly isResumed?: boolean;
}

let clock = 0;

function entryOf(state: State): Entry {
  const [, kind = 'f', mode = '777', content = ''] = /^([fdls])(\d*) ?(.*)$/.exec(state) ?? [];
  clock += 1;
  return {
    kind: kind as EntryKind,
    mode: Number.parseInt(mode || '777', 8),
    bytes: kind === 'f' ? content.length : 0,
    ctimeMs: clock,
    mtimeMs: clock,
    ino: clock,
    links: 1,
    target: kind === 'l' ? content : '',
    id: '',
    isClosed: false,
  };
}

/** The entries of a tree; a path that is as in `like` has the same entry, as an unchanged file has. */
function listingOf(tree: Tree, like: readonly (readonly [Tree, Listing])[] = []): Listing {
  return new Map(
    Object.entries(tree).map(([path, state]) => {
      const same = like.find(([other]) => other[path] === state)?.[1].get(path);
      return [path, same ?? entryOf(state)];
    }),
  );
}

function statesOf(tree: Tree): Map<string, string> {
  return new Map(Object.entries(tree).filter(([, state]) => state.startsWith('f')));
}

function planOf({ open, base, branch, resolutions = {}, isResumed = false }: Case) {
  const opened = listingOf(open);
  const now = listingOf(base, [[open, opened]]);
  const input = {
    open: opened,
    base: now,
    view: listingOf(branch, [[base, now]]),
    copied: null,
    hidden: new Set<string>(),
    resolutions: { ...NO_RESOLUTIONS, ...resolutions },
    isResumed,
  };
  const asked = new Set(candidatesOf(input));
  const known = (tree: Tree) => new Map([...statesOf(tree)].filter(([path]) => asked.has(path)));
  return planMerge({ ...input, states: { open: new Map(), base: known(base), view: known(branch) } });
}

const shown = (plan: ReturnType<typeof planOf>) => ({
  ops: plan.ops.map(({ path, want }) => `${want.do} ${path}`),
  conflicts: plan.conflicts.map(({ path }) => path),
  skipped: plan.skipped.map(({ path }) => path),
});
const D = 'd755';

describe('the plan of a merge', () => {
  // One row for each line of the table in docs/branches.md, and for the choices of a person.
  const rows: [string, Case, Partial<ReturnType<typeof shown>>][] = [
    [
      'unchanged | write',
      { open: { a: 'f644 1' }, base: { a: 'f644 1' }, branch: { a: 'f644 2' } },
      { ops: ['put a'] },
    ],
    ['unchanged | delete', { open: { a: 'f644 1' }, base: { a: 'f644 1' }, branch: {} }, { ops: ['remove a'] }],
    [
      'unchanged | chmod',
      { open: { a: 'f644 1' }, base: { a: 'f644 1' }, branch: { a: 'f755 1' } },
      { ops: ['put a'] },
    ],
    [
      'unchanged | chmod of a directory',
      { open: { a: D }, base: { a: D }, branch: { a: 'd700' } },
      { ops: ['chmod a'] },
    ],
    [
      'unchanged | file becomes link',
      { open: { a: 'f644 1' }, base: { a: 'f644 1' }, branch: { a: 'l x' } },
      { ops: ['link a'] },
    ],
    [
      'unchanged | file becomes directory',
      { open: { a: 'f644 1' }, base: { a: 'f644 1' }, branch: { a: D, 'a/b': 'f644 2' } },
      { ops: ['mkdir a', 'put a/b'] },
    ],
    [
      'unchanged | directory becomes file',
      { open: { a: D, 'a/b': 'f644 1' }, base: { a: D, 'a/b': 'f644 1' }, branch: { a: 'f644 2' } },
      { ops: ['put a', 'remove a/b'] },
    ],
    ['as the base now', { open: { a: 'f644 1' }, base: { a: 'f644 2' }, branch: { a: 'f644 2' } }, {}],
    ['as the base now, both deleted', { open: { a: 'f644 1' }, base: {}, branch: {} }, {}],
    [
      'changed | write',
      { open: { a: 'f644 1' }, base: { a: 'f644 2' }, branch: { a: 'f644 3' } },
      { conflicts: ['a'] },
    ],
    ['chmod | write', { open: { a: 'f644 1' }, base: { a: 'f600 1' }, branch: { a: 'f644 3' } }, { conflicts: ['a'] }],
    ['changed | delete', { open: { a: 'f644 1' }, base: { a: 'f644 2' }, branch: {} }, { conflicts: ['a'] }],
    [
      'changed | chmod',
      { open: { a: 'f644 1' }, base: { a: 'f644 2' }, branch: { a: 'f755 1' } },
      { conflicts: ['a'] },
    ],
    ['deleted | write', { open: { a: 'f644 1' }, base: {}, branch: { a: 'f644 2' } }, { conflicts: ['a'] }],
    ['created | created', { open: {}, base: { a: 'f644 1' }, branch: { a: 'f644 2' } }, { conflicts: ['a'] }],
    ['created | created with another mode', { open: {}, base: { a: D }, branch: { a: 'd700' } }, { conflicts: ['a'] }],
    [
      'file added in d | rm -r d',
      { open: { d: D }, base: { d: D, 'd/new': 'f644 1' }, branch: {} },
      { conflicts: ['d/new'] },
    ],
    [
      'file changed in d | rm + mkdir d',
      { open: { d: D, 'd/a': 'f644 1' }, base: { d: D, 'd/a': 'f644 2' }, branch: { d: D } },
      { conflicts: ['d/a'] },
    ],
    [
      'd deleted | new file in d',
      { open: { d: D }, base: {}, branch: { d: D, 'd/new': 'f644 1' } },
      { conflicts: ['d/new'] },
    ],
    [
      'd is a link now | new file in d',
      { open: { d: D }, base: { d: 'l x' }, branch: { d: D, 'd/new': 'f644 1' } },
      { conflicts: ['d/new'] },
    ],
    [
      'other paths',
      { open: { a: 'f644 1', b: 'f644 1' }, base: { a: 'f644 2' }, branch: { a: 'f644 2', c: D } },
      { ops: ['mkdir c'] },
    ],
    [
      '.git and protected names',
      {
        open: {},
        base: {},
        branch: { 'x/.git': 'f644 1', '.envrc': 'f644 1', 'p/.VSCODE/a': 'f644 1', x: D, p: D, 'p/.VSCODE': D },
      },
      { ops: ['mkdir p', 'mkdir x'], skipped: ['.envrc', 'p/.VSCODE', 'p/.VSCODE/a', 'x/.git'] },
    ],
    [
      'rm -r of a nested repository',
      { open: { x: D, 'x/.git': D, 'x/a': 'f644 1' }, base: { x: D, 'x/.git': D, 'x/a': 'f644 1' }, branch: {} },
      { ops: ['remove x/a'], skipped: ['x/.git'] },
    ],
    ['socket', { open: {}, base: {}, branch: { a: 's600' } }, { skipped: ['a'] }],
    ['setuid', { open: {}, base: {}, branch: { a: 'f4755 1' } }, { ops: ['put a'], skipped: ['a'] }],
    [
      'keep base',
      {
        open: { a: 'f644 1' },
        base: { a: 'f644 2' },
        branch: { a: 'f644 3', b: 'f644 1' },
        resolutions: { keepBase: ['a'] },
      },
      { ops: ['put b'] },
    ],
    [
      'take branch',
      { open: { a: 'f644 1' }, base: { a: 'f644 2' }, branch: { a: 'f644 3' }, resolutions: { takeBranch: ['a'] } },
      { ops: ['put a'] },
    ],
    [
      'take branch in a deleted directory',
      { open: { d: D }, base: {}, branch: { d: D, 'd/new': 'f644 1' }, resolutions: { takeBranch: ['d/new'] } },
      { ops: ['mkdir d', 'put d/new'] },
    ],
    [
      'take branch: its directory is deleted',
      { open: { d: D }, base: { d: D, 'd/new': 'f644 1' }, branch: {}, resolutions: { takeBranch: ['d'] } },
      { ops: ['remove d', 'remove d/new'] },
    ],
    [
      'keep base: its directory stays',
      {
        open: { d: D, 'd/a': 'f644 1' },
        base: { d: D, 'd/a': 'f644 1', 'd/new': 'f644 1' },
        branch: {},
        resolutions: { keepBase: ['d/new'] },
      },
      { ops: ['remove d/a'] },
    ],
    [
      'keep base: nothing can take its place',
      {
        open: { d: D, 'd/a': 'f644 1' },
        base: { d: D, 'd/a': 'f644 1', 'd/b': 'f644 1' },
        branch: { d: 'f644 1' },
        resolutions: { keepBase: ['d/b'] },
      },
      { conflicts: ['d'] },
    ],
    [
      'merge text without the content at the opening',
      { open: { a: 'f644 1' }, base: { a: 'f644 2' }, branch: { a: 'f644 3' }, resolutions: { mergeText: ['a'] } },
      { conflicts: ['a'] },
    ],
    [
      'a merge was killed between removing and writing',
      { open: { a: 'f644 1' }, base: {}, branch: { a: D }, isResumed: true },
      { ops: ['mkdir a'] },
    ],
    [
      'a prefix of a name is not its directory',
      {
        open: { a: 'f644 1', ab: 'f644 1' },
        base: { a: 'f644 2', ab: 'f644 2' },
        branch: { a: 'f644 3', ab: 'f644 3' },
        resolutions: { keepBase: ['a'] },
      },
      { conflicts: ['ab'] },
    ],
  ];

  it.each(rows)('issue 19 part 4 %s', (_, given, expected) => {
    const { conflicts, ...plan } = shown(planOf(given));
    expect(conflicts).toEqual(expected.conflicts ?? []);
    expect(plan.skipped).toEqual(expected.skipped ?? []);
    if (conflicts.length === 0) expect(plan.ops).toEqual(expected.ops ?? []);
  });

  const path = fc.constantFrom('a', 'b', 'a/x', 'a/y', 'a/x/1', 'b/z', '.git', 'a/.git', 'b/.envrc');
  const state = fc.constantFrom('f644 1', 'f644 2', 'f755 1', 'l t', 'd755', 'd700', 's600');
  /** Only paths in directories. */
  const tree = fc.dictionary(path, state, { maxKeys: 8 }).map((drawn): Tree => {
    const isThere = (at: string): boolean =>
      !at.includes('/') ||
      (drawn[at.slice(0, at.lastIndexOf('/'))]?.startsWith('d') === true && isThere(at.slice(0, at.lastIndexOf('/'))));
    return Object.fromEntries(Object.entries(drawn).filter(([at]) => at !== '.git' && isThere(at)));
  });
  const some = fc.subarray(['a', 'b', 'a/x', 'a/y', 'b/z']);

  it('issue 19 part 4 any plan without a conflict leaves each file in a directory, takes no file of both sides that nobody chose, and has nothing to do when it is made again', () => {
    fc.assert(
      fc.property(tree, tree, tree, some, some, (open, base, branch, keepBase, takeBranch) => {
        const plan = planOf({ open, base, branch, resolutions: { keepBase, takeBranch } });
        if (plan.conflicts.length > 0) return;
        const after: Record<string, State> = { ...base };
        for (const { path: at, want } of plan.ops) {
          if (want.do === 'remove') delete after[at];
          else after[at] = (branch[at] ?? '').replace(/^([fd])\d+(?=\d{3})/, '$1');
        }
        for (const at of Object.keys(after)) {
          const above = at.includes('/') ? at.slice(0, at.lastIndexOf('/')) : null;
          if (above !== null) expect(after[above], `${above} of ${at}`).toMatch(/^d/);
        }
        const isChosen = (at: string, paths: readonly string[]): boolean =>
          paths.some((one) => at === one || at.startsWith(`${one}/`));
        // What is taken from the branch gets its directories.
        const isMade = (at: string): boolean => takeBranch.some((one) => one.startsWith(`${at}/`));
        for (const at of new Set([...Object.keys(base), ...Object.keys(after)])) {
          if (isChosen(at, keepBase) || (base[at] !== open[at] && !isChosen(at, takeBranch) && !isMade(at)))
            expect(after[at], at).toBe(
              base[at] === undefined ? undefined : after[at] === branch[at] ? branch[at] : base[at],
            );
          if (/(^|\/)\.(git|envrc)$/.test(at)) expect(after[at], at).toBe(base[at]);
        }
        const again = planOf({ open, base: after, branch, resolutions: { keepBase, takeBranch }, isResumed: true });
        expect(shown(again)).toMatchObject({ ops: [], conflicts: [] });
      }),
      // Most plans have a conflict and prove nothing.
      { numRuns: propertyRuns('function', 5) },
    );
  });
});
