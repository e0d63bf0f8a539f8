import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { judgeText } from '#src/features/rules/judge.js';
import { RuleFiles } from '#src/features/rules/rule-files.js';

let at: string;
let files: RuleFiles;
const inHome = (name: string): string => join(at, 'home', name);
const inProject = (name: string): string => join(at, 'project', name);

beforeEach(() => {
  at = mkdtempSync(join(tmpdir(), 'rule-files-'));
  mkdirSync(inProject('.claude'), { recursive: true });
  files = new RuleFiles({ home: inHome(''), configHome: undefined, managedSettings: join(at, 'managed.json') });
});
afterEach(() => rmSync(at, { recursive: true, force: true }));

function write(path: string, content: object | string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
}

const claude = (permissions: object) => ({ permissions });
const openCode = (bash: object | string) => ({ permission: { bash } });

/** `deny`, `ask` or `pass`, and the file that decides. */
async function verdictOf(command: string): Promise<string> {
  const { lists } = await files.read(inProject(''));
  const { denied, asked, unseen } = judgeText({ text: command, input: { kind: 'nothing' }, isSeen: false }, lists);
  const named = (kind: string, file: string): string => `${kind} ${file.slice(at.length + 1)}`;
  if (denied !== null) return named('deny', denied.file);
  const [first] = asked;
  if (first !== undefined) return named('ask', first.file);
  return unseen === null ? 'pass' : named('unseen', unseen.file);
}

describe('the files of rules', () => {
  it('are those of the administrator, of the person and of the project', async () => {
    write(join(at, 'managed.json'), claude({ deny: ['Bash(aa *)'] }));
    write(inHome('.claude/settings.json'), claude({ deny: ['Bash(bb *)'] }));
    write(inProject('.claude/settings.json'), claude({ deny: ['Bash(cc *)'] }));
    write(inProject('.claude/settings.local.json'), claude({ ask: ['Bash(dd *)'] }));
    write(inHome('.config/opencode/opencode.json'), openCode({ 'ee *': 'deny' }));
    write(inProject('opencode.jsonc'), '{ // a comment\n "permission": { "bash": { "ff *": "deny", }, }, }');
    write(inProject('.opencode/opencode.json'), openCode({ 'gg *': 'ask' }));
    expect(await Promise.all(['aa', 'bb x', 'cc', 'dd', 'ee', 'ff', 'gg', 'hh'].map(verdictOf))).toEqual([
      'deny managed.json',
      'deny home/.claude/settings.json',
      'deny project/.claude/settings.json',
      'ask project/.claude/settings.local.json',
      'deny home/.config/opencode/opencode.json',
      'deny project/opencode.jsonc',
      'ask project/.opencode/opencode.json',
      'pass',
    ]);
  });

  it('of a project take nothing back that a file of the person denies or asks about', async () => {
    write(inHome('.config/opencode/opencode.json'), openCode({ 'git *': 'deny', 'npm *': 'ask' }));
    write(inProject('opencode.json'), openCode({ 'git *': 'allow', 'npm *': 'allow' }));
    write(inHome('.claude/settings.json'), claude({ deny: ['Bash(rm *)'], ask: ['Bash(mv *)'] }));
    write(inProject('.claude/settings.json'), claude({ allow: ['Bash(rm *)', 'Bash(mv *)', 'Bash(cp $X)', 'Bash'] }));
    expect(await Promise.all(['git log', 'npm ci', 'rm a', 'mv a b'].map(verdictOf))).toEqual([
      'deny home/.config/opencode/opencode.json',
      'ask home/.config/opencode/opencode.json',
      'deny home/.claude/settings.json',
      'ask home/.claude/settings.json',
    ]);
  });

  it('of a project lift a question about unknown words only if the same file asks it', async () => {
    write(inProject('.claude/settings.json'), claude({ ask: ['Bash(mv -f *)'], allow: ['Bash(mv *)'] }));
    expect(await verdictOf('mv "$A" b')).toBe('pass');
    write(inHome('.claude/settings.json'), claude({ ask: ['Bash(mv -i *)'] }));
    expect(await verdictOf('mv "$A" b')).toBe('unseen home/.claude/settings.json');
    write(inHome('.claude/settings.json'), claude({ ask: ['Bash(mv -i *)'], allow: ['Bash(mv *)'] }));
    expect(await verdictOf('mv "$A" b')).toBe('pass');
  });

  it('of OpenCode are merged as OpenCode merges them: a pattern keeps its place, and one word replaces all patterns', async () => {
    write(inHome('.config/opencode/config.json'), openCode({ 'git *': 'allow', '*': 'allow', 'pwd *': 'deny' }));
    write(inProject('opencode.json'), openCode({ 'git *': 'deny' }));
    // The rule of the project stands before `*`, which allows it.
    expect(await verdictOf('git log')).toBe('pass');
    write(inHome('.config/opencode/config.json'), openCode('allow'));
    expect(await verdictOf('git log')).toBe('deny project/opencode.json');
    expect(await verdictOf('pwd')).toBe('pass');
  });

  it('are read again when they change, and give the same rules as long as they do not', async () => {
    write(inHome('.claude/settings.json'), claude({ deny: ['Bash(rm *)'] }));
    const first = await files.read(inProject(''));
    expect(await files.read(inProject(''))).toBe(first);
    write(inHome('.claude/settings.json'), claude({ deny: ['Bash(mv *)'] }));
    expect(await Promise.all(['rm a', 'mv a b'].map(verdictOf))).toEqual(['pass', 'deny home/.claude/settings.json']);
    rmSync(inHome('.claude/settings.json'));
    expect((await files.read(inProject(''))).lists).toEqual([]);
  });

  it('without a rule that names a word of a command give no list at all', async () => {
    write(
      inHome('.claude/settings.json'),
      claude({ allow: ['Bash(git *)'], deny: ['Bash', 'Read(./x)'], ask: ['Bash(*)'] }),
    );
    write(inHome('.config/opencode/opencode.json'), { permission: { '*': 'ask', bash: { '*': 'deny' } } });
    expect(await files.read(inProject(''))).toMatchObject({ lists: [], faults: [] });
  });

  it.each([
    ['is cut', '{"permissions":'],
    ['holds no object', '[]'],
    ['has a list in place of an object', '{"permissions":[]}'],
    ['has rules that are no texts', '{"permissions":{"deny":[{}]}}'],
    ['is nested deeply', '['.repeat(200_000)],
    ['is too large', `{"a":"${'x'.repeat(1024 * 1024)}"}`],
  ])('report one that %s', async (_, content) => {
    write(inProject('.claude/settings.json'), content);
    const { faults } = await files.read(inProject(''));
    expect(faults).toEqual([{ file: inProject('.claude/settings.json'), why: expect.stringMatching(/\S/) }]);
  });

  it('report a pipe without waiting for it, and follow a link', async () => {
    execFileSync('mkfifo', [inProject('opencode.json')]);
    write(join(at, 'elsewhere.json'), claude({ deny: ['Bash(rm *)'] }));
    symlinkSync(join(at, 'elsewhere.json'), inProject('.claude/settings.json'));
    const { faults } = await files.read(inProject(''));
    expect(faults.map(({ file }) => file)).toEqual([inProject('opencode.json')]);
    expect(await verdictOf('rm a')).toBe('deny project/.claude/settings.json');
  });
});
