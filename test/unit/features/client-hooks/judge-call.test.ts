import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { PERSONAL_FILES, PROJECT_FILES } from '#src/cli/upstream/client-files.js';
import type { ToolDeed } from '#src/features/client-hooks/hook-event.js';
import { refusedPath } from '#src/features/client-hooks/judge-call.js';
import { MANAGED_SETTINGS, RuleFiles } from '#src/features/rules/rule-files.js';
import { PROTECTED_NAMES } from '#src/guard/table/protected-names.js';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'judge-')));
afterAll(() => rmSync(root, { recursive: true }));

const HOME = '/home/person';
const RULE_FILES = new RuleFiles({ home: HOME, configHome: undefined, managedSettings: MANAGED_SETTINGS });
const RULES = {
  deny: ['**/*.pem', 'vault/'],
  ownDirectories: ['/home/person/.contextd'],
  ...RULE_FILES.personal,
};

function judged(
  path: string,
  does: ToolDeed = 'write',
  input: { content?: string } = {},
  clientDirectory: string | null = null,
): string | null {
  const paths = [path.startsWith('/') ? path : join(root, path)];
  return refusedPath({ paths, does, input, clientDirectory }, root, RULES);
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

  it('SEC-3.2 lets no tool of a client write the settings from which clients take their rules, hooks and servers', async () => {
    mkdirSync(join(root, '.claude'));
    for (const name of ['.claude/settings.json', 'opencode.json']) writeFileSync(join(root, name), '{}');
    const { files } = await RULE_FILES.read(root);
    expect(files.length).toBeGreaterThanOrEqual(2);
    const read = [...files, ...RULE_FILES.personal.clientPlaces];
    const written = [...PERSONAL_FILES, ...PROJECT_FILES].map(({ path }) => join(HOME, path));
    for (const path of [...read, ...written, MANAGED_SETTINGS, `${HOME}/.claude/settings.local.json`]) {
      expect(judged(path), path).toMatch(/ is protected: |belongs to the settings of a client/);
      expect(judged(path), path).toContain('Only a person changes it');
      expect(judged(path, 'read'), path).toBeNull();
    }
    for (const path of ['~/.config/opencode/AGENTS.md', 'src/~/.config/opencode/AGENTS.md'])
      expect(judged(path), path).toContain('belongs to the settings of a client');
  });

  it('refuses the protected names of the directories around the project, and of any other', () => {
    const around = dirname(root);
    for (const path of ['.claude/settings.json', 'opencode.json', '.mcp.json', 'other/.git/hooks/post-merge', '.envrc'])
      expect(judged(join(around, path)), path).toContain(' is protected');
    expect(judged('/home/person/.bashrc')).toContain(' is protected');
    for (const path of ['notes.md', 'other/src/a.ts']) expect(judged(join(around, path)), path).toBeNull();
  });

  it('judges no name that the directories around the project have', () => {
    const project = join(root, '.cursor/worktrees/one');
    const event = { does: 'write', input: {}, clientDirectory: null } as const;
    const [side, rules] = ['two/src/a.ts', 'two/.envrc'].map((path) => join(root, '.cursor/worktrees', path));
    expect(refusedPath({ ...event, paths: [side ?? ''] }, project, RULES)).toBeNull();
    expect(refusedPath({ ...event, paths: [rules ?? ''] }, project, RULES)).toContain(' is protected');
  });

  it('lets Claude Code keep its plans and its memory, and nothing else beside its settings', () => {
    for (const path of ['plans/a.md', 'projects/-home-person-app/memory/MEMORY.md'])
      for (const at of ['/home/person/.claude', '/srv/moved'])
        expect(judged(join(at, path), 'write', {}, '/srv/moved'), path).toBeNull();
    for (const path of [
      'settings.json',
      'skills/plans/SKILL.md',
      'plans/a.json',
      'plans/deep/a.md',
      'projects/a/b.jsonl',
    ])
      for (const at of ['/home/person/.claude', '/srv/moved'])
        expect(judged(join(at, path), 'write', {}, '/srv/moved'), path).toContain('the settings of a client');
  });
});
