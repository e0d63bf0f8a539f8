import { expect, it } from 'vitest';
import { changesInFull } from '#src/features/upstreams/management.js';
import { grantCommand } from '#src/features/upstreams/refusals.js';
import type { StoredServer } from '#src/stores/upstream-servers.js';

const changed = (tool: string, after: string) => ({ tool, kind: 'changed' as const, before: '', after });

it('issue 34: every change of definitions is shown whole, however many there are', () => {
  const changes = Array.from({ length: 9 }, (_, at) => changed(`tool-${at}`, 'x'.repeat(125_000)));
  const shown = changesInFull('demo', [...changes, changed('last', 'the last change')]);
  expect(shown.map(({ diff }) => diff.length)).toEqual([...Array(9).fill(125_001), 16]);
});

it('issue 34: changes that are too large to be shown cannot be accepted', () => {
  const changes = Array.from({ length: 5 }, (_, at) => changed(`tool-${at}`, 'x'.repeat(2 * 1024 * 1024)));
  expect(() => changesInFull('demo', changes)).toThrow(
    expect.objectContaining({
      code: 'PAYLOAD_TOO_LARGE',
      remedy: expect.stringContaining('ctxd upstream remove demo'),
    }),
  );
});

it.each([
  ['node', 'node /srv/demo/run.mjs'],
  ["it's", "'it'\\''s' /srv/demo/run.mjs"],
  ["a\\'; echo pasted #", ''],
  ['`echo pasted`', ''],
  ['a\necho pasted', ''],
])(
  'issue 34: a command that grants what a server lacks is named only if it means the same to every shell: %j',
  (word, named) => {
    const command = [word, '/srv/demo/run.mjs'];
    const spec = { command, url: '', usesCredential: false, hosts: [], paths: [], project: 'none' as const };
    const server: StoredServer = {
      ...{ project: '/p', name: 'demo', spec, variables: {}, addedMs: 0, givenBy: 'ann', accepted: null, seen: [] },
    };
    const seeing = { command, paths: [{ path: '/srv/demo', isWritable: false }], project: 'none' as const };
    const lacking = { denied: [], unseen: { names: ['/srv/demo/run.mjs'], why: '', seeing } };
    const expected = named === '' ? '' : `ctxd upstream add demo --path /srv/demo -- ${named}`;
    expect(grantCommand(server, lacking, { groupOf: () => null })).toBe(expected);
  },
);
