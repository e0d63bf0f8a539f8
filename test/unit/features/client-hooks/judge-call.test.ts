import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { ToolDeed } from '#src/features/client-hooks/hook-event.js';
import { refusedPath } from '#src/features/client-hooks/judge-call.js';
import { PROTECTED_NAMES } from '#src/guard/table/protected-names.js';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'judge-')));
afterAll(() => rmSync(root, { recursive: true }));

const RULES = { deny: ['**/*.pem', 'vault/'], ownDirectories: ['/home/person/.contextd'] };

function judged(path: string, does: ToolDeed = 'write', input: { content?: string } = {}): string | null {
  return refusedPath({ paths: [path.startsWith('/') ? path : join(root, path)], does, input }, root, RULES);
}

describe('issue 19 part 8: paths in calls of tools of a client', () => {
  it('SEC-3.2 no tool of a client writes a protected name, at any depth, and each may be read', () => {
    expect(PROTECTED_NAMES.length).toBeGreaterThan(50);
    for (const name of PROTECTED_NAMES)
      for (const path of [name, `${name}/inside`, `deep/er/${name}`]) {
        expect(judged(path), path).toMatch(/ is protected: .* would run or trust it when /);
        expect(judged(path, 'read'), path).toBeNull();
      }
    for (const path of ['.git/hooks/pre-commit', '.git/config', 'vendor/x/.git/info/attributes'])
      expect(judged(path)).toContain('.git, which is protected');
    for (const path of ['src/a.ts', '.gitignore', 'CLAUDE.md', 'package.json', 'git/hooks/x'])
      expect(judged(path), path).toBeNull();
  });

  it('judges a worktree of Claude Code like the project', () => {
    const worktree = '.claude/worktrees/side';
    for (const path of ['src/a.ts', 'notes.md']) expect(judged(`${worktree}/${path}`), path).toBeNull();
    expect(judged(`${worktree}/.claude/settings.json`)).toContain('.claude is protected');
    expect(judged(`${worktree}/.git`)).toContain('.git, which is protected');
    expect(judged(`${worktree}/a.pem`, 'read')).toContain('(sandbox.deny)');
    for (const path of ['.claude/worktrees', worktree, '.claude/x/worktrees/side/a'])
      expect(judged(path), path).toContain('.claude is protected');
  });

  it('judges the place that links lead to, also for a file that does not exist yet', () => {
    mkdirSync(join(root, '.git/hooks'), { recursive: true });
    symlinkSync('.git/hooks', join(root, 'innocent'));
    symlinkSync('../.git/config', join(root, '.git/hooks/one'));
    symlinkSync('.git/hooks/one', join(root, 'two'));
    for (const path of ['innocent/pre-commit', 'innocent/a/b/c', 'two']) expect(judged(path)).toContain('protected');
  });

  it('takes a file of a checked name if the whole of it is known and harmless', () => {
    expect(judged('.python-version', 'write', { content: '3.12\n' })).toBeNull();
    expect(judged('.python-version', 'write', { content: '../evil\n' })).toContain('safe_write, which judges');
    expect(judged('.python-version')).toContain('safe_write, which judges');
  });

  it('refuses reading and writing what a person hides, and names the rule', () => {
    mkdirSync(join(root, 'vault'));
    writeFileSync(join(root, 'server.pem'), '');
    symlinkSync('server.pem', join(root, 'plain.txt'));
    for (const does of ['read', 'write'] as const) {
      expect(judged('server.pem', does)).toContain('"**/*.pem" (sandbox.deny)');
      expect(judged('plain.txt', does)).toContain('"**/*.pem" (sandbox.deny)');
      expect(judged('vault/a/b', does)).toContain('vault/ (sandbox.deny)');
      expect(judged('vault', does)).toContain('vault/ (sandbox.deny)');
    }
    expect(judged('/elsewhere/server.pem', 'read')).toBeNull();
  });

  it('lets no tool of a client write the settings and state of contextd', () => {
    expect(judged('/home/person/.contextd/config/config.json')).toContain('belongs to contextd itself');
    expect(judged('/home/person/.contextd/config/config.json', 'read')).toBeNull();
    expect(judged('/home/person/notes')).toBeNull();
  });
});
