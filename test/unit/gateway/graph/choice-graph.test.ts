import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChoiceGraph } from '#src/gateway/graph/choice-graph.js';
import type { GraphNode } from '#src/gateway/graph/grow.js';
import { slugOf } from '#src/gateway/graph/path.js';
import { printTree } from '#src/gateway/graph/print-tree.js';
import { jaccard } from '#src/gateway/number-sets.js';
import { catalogs, shuffledCatalogs, tool } from '../catalogs.ts';

const SEGMENT = /^[a-z0-9][a-z0-9_-]{0,63}$/;

function nodesBelow(node: GraphNode): GraphNode[] {
  return [node, ...[...node.children.values()].flatMap(nodesBelow)];
}

function codeOf(act: () => unknown): string {
  try {
    act();
    return 'no error';
  } catch (thrown) {
    return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : String(thrown);
  }
}

const GITHUB = new ChoiceGraph(
  ['create', 'list', 'close', 'label', 'pin'].flatMap((verb) => [
    tool(`${verb}-issue`, {
      name: `${verb}_issue`,
      namespace: 'github',
      description: `${verb} an issue of a repository`,
    }),
    tool(`${verb}-branch`, { name: `${verb}_branch`, namespace: 'github', description: `${verb} a branch in git` }),
  ]),
  { maxChildren: 5 },
);

describe('the paths of a catalogue', () => {
  it('lists the namespaces at the root, the children of a group, and a single item', () => {
    expect(GITHUB.browse('/').map(({ segment }) => segment)).toEqual(['github']);
    const groups = GITHUB.browse('/github').map(({ segment }) => segment);
    expect(groups).toContain('issue');
    const issues = GITHUB.browse('/github/issue');
    expect(issues.every(({ item }) => item?.name.endsWith('issue'))).toBe(true);
    const path = GITHUB.pathOf('create-issue') ?? '';
    expect(GITHUB.browse(path).map(({ item }) => item?.id)).toEqual(['create-issue']);
  });

  it('takes a last * for all children, also at the root and at an item', () => {
    expect(GITHUB.browse('/*')).toEqual(GITHUB.browse('/'));
    expect(GITHUB.browse('/github/*')).toEqual(GITHUB.browse('/github'));
    const path = GITHUB.pathOf('create-issue') ?? '';
    expect(GITHUB.browse(`${path}/*`)).toEqual(GITHUB.browse(path));
  });

  it.each([
    ['', 'PATH_INVALID'],
    ['github', 'PATH_INVALID'],
    ['/github/', 'PATH_INVALID'],
    ['//', 'PATH_INVALID'],
    ['//github', 'PATH_INVALID'],
    ['/github//issue', 'PATH_INVALID'],
    ['/GitHub', 'PATH_INVALID'],
    ['/github/Issue', 'PATH_INVALID'],
    ['/9p', 'PATH_INVALID'],
    ['/-github', 'PATH_INVALID'],
    ['/git hub', 'PATH_INVALID'],
    ['/github/**', 'PATH_INVALID'],
    ['/github/..', 'PATH_INVALID'],
    [`/${'a'.repeat(65)}`, 'PATH_INVALID'],
    [`/${'a'.repeat(64)}`, 'PATH_NOT_FOUND'],
    ['/gitlab', 'PATH_NOT_FOUND'],
    ['/github/9', 'PATH_NOT_FOUND'],
    ['/*/issue', 'PATH_NOT_FOUND'],
    ['/github/constructor', 'PATH_NOT_FOUND'],
  ])('answers the path %j with %s', (path, code) => {
    expect(codeOf(() => GITHUB.browse(path))).toBe(code);
  });

  it('names the nearest segments if a path leads nowhere, and cuts a long path', () => {
    expect(() => GITHUB.browse('/githib')).toThrow('leads nowhere: / has no githib');
    expect(() => GITHUB.browse(`/${'x'.repeat(5_000)}`)).toThrow(
      /^the path ".{299}…" has a segment of 5000 characters$/,
    );
  });

  it('leads to each item by exactly one path, in segments of the grammar', () => {
    fc.assert(
      fc.property(catalogs, fc.integer({ min: 2, max: 8 }), (items, maxChildren) => {
        const graph = new ChoiceGraph(items, { maxChildren });
        const nodes = nodesBelow(graph.root);
        const leaves = nodes.flatMap(({ item, path }) => (item === null ? [] : [[item.id, path] as const]));
        expect(leaves.map(([id]) => id).sort()).toEqual(items.map(({ id }) => id).sort());
        for (const [id, path] of leaves) {
          expect(graph.pathOf(id)).toBe(path);
          expect(graph.browse(path).map(({ item }) => item?.id)).toEqual([id]);
        }
        for (const { segment, path, children } of nodes) {
          if (path === '/') continue;
          expect(segment).toMatch(SEGMENT);
          expect(children.size).toBeLessThanOrEqual(maxChildren);
        }
        expect(graph.browse('/').every(({ segment }) => /^[a-z]/.test(segment))).toBe(true);
      }),
    );
  });

  it('is the same in whatever order items are added', () => {
    fc.assert(
      fc.property(shuffledCatalogs, ([items, shuffled]) => {
        const [one, other] = [items, shuffled].map((some) => printTree(new ChoiceGraph(some, { maxChildren: 3 }).root));
        expect(other).toEqual(one);
      }),
    );
  });

  it('numbers names that become the same segment, past names that look numbered', () => {
    const names = ['a-2', 'A', 'a', 'Á', '必应', '搜索'];
    const graph = new ChoiceGraph(names.map((name, index) => tool(`id${index}`, { name })));
    expect(names.map((_, index) => graph.pathOf(`id${index}`))).toEqual(
      ['a-2', 'a', 'a-3', 'a-4', 'unnamed', 'unnamed-2'].map((segment) => `/other/${segment}`),
    );
  });

  it('keeps a node within its bound if all items say the same', () => {
    const items = Array.from({ length: 500 }, (_, index) =>
      tool(`t${index}`, { name: 'same', description: 'the same' }),
    );
    const graph = new ChoiceGraph(items, { maxChildren: 5 });
    expect(nodesBelow(graph.root).filter(({ item }) => item !== null)).toHaveLength(500);
    expect(nodesBelow(graph.root).every(({ children }) => children.size <= 5)).toBe(true);
  });

  it('prints the tree with the number of items in each group, down to a depth', () => {
    const graph = new ChoiceGraph([tool('b', { namespace: 'x' }), tool('a', { namespace: 'x' }), tool('c')]);
    expect(printTree(graph.root)).toEqual(['/ (3)', '  other/ (1)', '    c  c', '  x/ (2)', '    a  a', '    b  b']);
    expect(printTree(graph.root, 1)).toEqual(['/ (3)', '  other/ (1)', '  x/ (2)']);
  });
});

describe('the likeness of two sets', () => {
  it('is the share of common numbers', () => {
    const sets = fc.uniqueArray(fc.integer({ min: 0, max: 20 }));
    fc.assert(
      fc.property(sets, sets, (one, other) => {
        const union = new Set([...one, ...other]).size;
        const common = one.filter((number) => other.includes(number)).length;
        const [a, b] = [one, other].map((numbers) => Uint32Array.from(numbers).sort());
        expect(jaccard(a ?? new Uint32Array(), b ?? new Uint32Array())).toBe(union === 0 ? 1 : common / union);
      }),
    );
  });
});

it('issue 33.3 cuts a name of a million dashes to a segment in one pass', () => {
  expect(slugOf(`a${'-'.repeat(1_000_000)}b`)).toBe('a');
});
