import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runCtxd } from '../../../helpers/run-ctxd.ts';

const dir = mkdtempSync(join(tmpdir(), 'route-tools-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const LINES = [
  { id: 'mail:send', name: 'send_mail', description: 'Send a message', server: 'mail', details: 'Envelopes too' },
  { id: 'git:commit', name: 'commit', description: 'Record changes', namespace: 'git', sideEffects: true },
  { id: 'git:push', name: 'push', description: 'Send commits away', namespace: 'git' },
];
const catalog = join(dir, 'catalog.jsonl');
writeFileSync(catalog, LINES.map((line) => `${JSON.stringify(line)}\n`).join(''));

function route(...words: string[]) {
  return runCtxd(['route', ...words, '--catalog', catalog], { cwd: dir, env: { HOME: dir, PATH: '' } });
}

describe('ctxd route browse', () => {
  it('issue 33.4 shows the cards of a query, best first, and finds words of details that no card shows', async () => {
    const { code, stdout } = await route('browse', 'send a message', '--json');
    expect(code).toBe(0);
    const { cards } = JSON.parse(stdout);
    expect(cards.map(({ id }: { id: string }) => id)).toEqual(['mail:send', 'git:push']);
    expect(cards[0]).toEqual({
      id: 'mail:send',
      name: 'send_mail',
      description: 'Send a message',
      kind: 'tool',
      namespace: 'mail',
      has_schema: false,
      score: 1,
    });
    expect((await route('browse', 'envelope')).stdout).toBe('mail:send "send_mail" - Send a message\n');
    expect((await route('browse', 'send', '--top-k', '1')).stdout.split('\n')).toHaveLength(2);
  });

  it('issue 33.4 shows the groups and tools of a path, / without one', async () => {
    const root = await route('browse');
    expect(root.stdout).toBe(
      '/git (internal) - 2 tools: /git/commit, /git/push\n/mail (internal) - 1 tools: /mail/send_mail\n',
    );
    expect((await route('browse', '/')).stdout).toBe(root.stdout);
    expect((await route('browse', '/git')).stdout).toContain('git:commit (side effects) - Record changes\n');
  });

  it.each([
    ['/git/', 'PATH_INVALID', 2],
    ['/Git', 'PATH_INVALID', 2],
    ['/gti', 'PATH_NOT_FOUND', 1],
  ])('issue 33.4 refuses the path %s with %s and exit code %i', async (path, error, code) => {
    const refused = await route('browse', path, '--json');
    expect(refused.code).toBe(code);
    expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: error } });
    expect(refused.stderr).not.toBe('');
  });
});

describe('ctxd route explain', () => {
  it('issue 33.4 says which words in which fields made the scores', async () => {
    const { stdout } = await route('explain', 'send a message', '--json');
    const { query, why } = JSON.parse(stdout);
    expect(query).toBe('send a message');
    expect(why.map(({ id, place }: { id: string; place: number }) => [id, place])).toEqual([
      ['mail:send', 1],
      ['git:push', 2],
    ]);
    expect(why[0].words).toEqual([
      expect.objectContaining({ word: 'messag', fields: ['description'] }),
      expect.objectContaining({ word: 'send', fields: ['name', 'description'] }),
    ]);
    expect((await route('explain', 'send', '--top-k', '1')).stdout).toMatch(
      /^1\. mail:send {2}1\n {4}100 % send in name, description\n$/,
    );
  });

  it('issue 33.4 explains one tool by its name or id, also one that shares no word', async () => {
    for (const tool of ['push', 'git:push', 'GIT:PUSH'])
      expect((await route('explain', 'send a message', tool)).stdout).toMatch(/^2\. git:push /);
    expect((await route('explain', 'send a message', 'commit')).stdout).toBe(
      'git:commit: shares no word with the query\n',
    );
    const refused = await route('explain', 'send', 'comit');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('Did you mean commit');
  });
});

describe('ctxd route print-tree', () => {
  it('issue 33.4 prints the tree as far as the depth goes', async () => {
    expect((await route('print-tree')).stdout).toBe(
      '/ (3)\n  git/ (2)\n    commit  git:commit\n    push  git:push\n  mail/ (1)\n    send_mail  mail:send\n',
    );
    expect((await route('print-tree', '--depth', '1')).stdout).toBe('/ (3)\n  git/ (2)\n  mail/ (1)\n');
    expect(JSON.parse((await route('print-tree', '--depth', '1', '--json')).stdout)).toEqual({
      path: '/',
      tools: 3,
      children: [
        { path: '/git', tools: 2 },
        { path: '/mail', tools: 1 },
      ],
    });
    const whole = JSON.parse((await route('print-tree', '--json')).stdout);
    expect(whole.children[0].children[0]).toEqual({ path: '/git/commit', id: 'git:commit' });
    expect((await route('print-tree', '--depth', '0')).code).toBe(2);
  });
});

it.each(['browse', 'explain', 'print-tree'])('issue 33.4 ctxd route %s has the tools of one place', async (command) => {
  const query = command === 'explain' ? ['send'] : [];
  const both = await route(command, ...query, '--project', dir);
  expect(both.code).toBe(2);
  expect(both.stderr).toContain('--catalog and --project');
  const nowhere = await runCtxd(['route', command, ...query], { cwd: dir, env: { HOME: dir, PATH: '' } });
  expect(nowhere.code).toBe(1);
  expect(nowhere.stderr).toContain('is not in a project of contextd');
});
