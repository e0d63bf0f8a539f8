import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MESSAGE_MAX_BYTES } from '#src/core/limits.js';
import { appears } from '../helpers/appears.ts';
import { CTXD, type Installation, install, PROXY, type RunOptions } from '../helpers/installation.ts';
import { generate, seededRandom } from '../helpers/sample-patterns.ts';

let at: Installation;
beforeAll(async () => {
  at = await install({ settings: { 'sandbox.deny': '["**/*.pem"]' } });
});
afterAll(() => at.remove());

const SESSION = 'conversation';
const random = seededRandom(115);
const newSecret = (): string => generate('ghp_[0-9a-zA-Z]{36}', random);
const place = (name: string): string => join(at.project, name);

/** What contextd-hook prints, parsed; null for nothing. Its exit status is always 0. */
async function hook(event: object, options: RunOptions & { program?: string } = {}) {
  const { program = place('.claude/bin/contextd-hook'), ...rest } = options;
  const input = JSON.stringify({ session_id: SESSION, cwd: at.project, ...event });
  const { code, stdout, stderr } = await at.run(program, [], { input, ...rest });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout === '' ? null : JSON.parse(stdout);
}

const calling = (tool_name: string, tool_input: object) => ({ hook_event_name: 'PreToolUse', tool_name, tool_input });
const called = (tool_name: string, tool_input: object, tool_response: unknown) => ({
  hook_event_name: 'PostToolUse',
  tool_name,
  tool_input,
  tool_response,
});
const fileRead = (name: string, content: string) =>
  called('Read', { file_path: place(name) }, { type: 'text', file: { filePath: place(name), content, numLines: 2 } });

/** A file that a client's own Write makes, with both of its hooks. */
async function write(name: string, content: string, meanwhile?: () => void): Promise<void> {
  const input = { file_path: place(name), content };
  expect(await hook(calling('Write', input))).toBeNull();
  meanwhile?.();
  writeFileSync(place(name), content);
  expect(await hook(called('Write', input, { type: 'create', filePath: place(name), content }))).toBeNull();
}

describe('issue 19 part 8: contextd-hook', () => {
  it('SEC-1.1 masks the output of a tool in its shape, by the numbers of the session, and prints nothing if nothing changes', async () => {
    const [first, second] = [newSecret(), newSecret()];
    writeFileSync(place('one.conf'), `token = ${first}\n`);
    const shown = await at.call('safe_read', 'one.conf', { env: { CONTEXTD_SESSION_ID: SESSION } });
    expect(shown.stdout).toContain('[SECRET_1]');
    const masked = await hook(fileRead('one.conf', `token = ${first}\nother = ${second}\n`));
    const file = { filePath: place('one.conf'), content: 'token = [SECRET_1]\nother = [SECRET_2]\n', numLines: 2 };
    const updatedToolOutput = { type: 'text', file };
    expect(masked).toEqual({ hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput } });
    expect(await hook(fileRead('one.conf', 'plain\n'))).toBeNull();
    expect(await hook({ hook_event_name: 'Notification' })).toBeNull();
    const { stdout } = await at.run(CTXD, ['audit', 'tail', '--json']);
    const records = JSON.parse(stdout).filter(({ door }: { door: string }) => door === 'hook');
    expect(records).toMatchObject([{ tool: 'Read', effect: 'look', secrets_found: 2, input: { path: 'one.conf' } }]);
    for (const secret of [first, second]) expect(at.filesHolding(secret)).toEqual([]);
  });

  it('never answers allow, and says nothing of what it does not refuse', async () => {
    for (const [tool, input] of [
      ['Edit', { file_path: place('a.ts'), old_string: 'a', new_string: 'b' }],
      ['Read', { file_path: '/etc/passwd' }],
      ['Write', { file_path: '/elsewhere/x', content: 'x' }],
      ['Grep', { pattern: 'x' }],
    ] as const)
      expect(await hook(calling(tool, input))).toBeNull();
  });

  it('SEC-3.2 refuses protected and hidden files, and records that', async () => {
    const refused = async (tool: string, name: string) => {
      const { hookSpecificOutput } = await hook(calling(tool, { file_path: place(name), content: 'x' }));
      expect(hookSpecificOutput.permissionDecision).toBe('deny');
      return hookSpecificOutput.permissionDecisionReason;
    };
    expect(await refused('Write', '.claude/settings.json')).toContain('.claude is protected: Claude Code');
    expect(await refused('Read', 'keys/server.pem')).toContain('(sandbox.deny)');
    const own = await hook(calling('Write', { file_path: join(at.home, 'config/config.json'), content: '{}' }));
    expect(own.hookSpecificOutput.permissionDecisionReason).toContain('belongs to contextd itself');
    const shown = (await at.run(CTXD, ['session', 'show', SESSION])).stdout;
    expect(shown).toContain('Write .claude/settings.json: PERMISSION_DENIED');
  });

  it('undo takes back what a tool wrote between its hooks, and nothing else', async () => {
    writeFileSync(place('a.txt'), 'old\n');
    writeFileSync(place('mine.txt'), 'mine\n');
    await write('a.txt', 'new\n', () => writeFileSync(place('mine.txt'), 'changed by a person\n'));
    mkdirSync(place('deep'));
    await write('deep/b.txt', 'made\n');
    const shown = (await at.run(CTXD, ['session', 'show', SESSION])).stdout;
    expect(shown).toContain('Write a.txt: ok');
    const listed = JSON.parse((await at.run(CTXD, ['undo', '--list', '--json'])).stdout);
    expect(listed.map(({ tool, files }: { tool: string; files: unknown }) => [tool, JSON.stringify(files)])).toEqual([
      ['Write', expect.stringContaining('deep/b.txt')],
      ['Write', expect.not.stringContaining('mine.txt')],
    ]);
    for (const { ref } of listed) await at.run(CTXD, ['undo', ref, '--yes']);
    expect(readFileSync(place('a.txt'), 'utf8')).toBe('old\n');
    expect(readFileSync(place('mine.txt'), 'utf8')).toBe('changed by a person\n');
    expect(() => readFileSync(place('deep/b.txt'))).toThrow(/ENOENT/);
  });

  it('leaves the undo of commands that run meanwhile whole', async () => {
    writeFileSync(place('both.txt'), 'old\n');
    const command = 'echo mine > by-command.txt; until [ -e go ]; do sleep 0.05; done; echo end >> by-command.txt';
    const running = at.call('safe_bash', { command });
    await appears(at.project, 'by-command.txt');
    await write('both.txt', 'new\n');
    writeFileSync(place('go'), '');
    await running;
    const listed = JSON.parse((await at.run(CTXD, ['undo', '--list', '--json'])).stdout);
    const [edit] = listed.filter(({ tool }: { tool: string }) => tool === 'Write');
    const ofCommand = listed.find(({ files }: { files: unknown }) => JSON.stringify(files).includes('by-command.txt'));
    expect(JSON.stringify(edit.files)).not.toContain('by-command.txt');
    await at.run(CTXD, ['undo', ofCommand.ref, '--yes']);
    expect(() => readFileSync(place('by-command.txt'))).toThrow(/ENOENT/);
    expect(readFileSync(place('both.txt'), 'utf8')).toBe('new\n');
  });

  it('SEC-1.2 shows nothing if the daemon cannot be reached, the program was moved, or the event is too large', async () => {
    const secret = newSecret();
    const event = fileRead('one.conf', `token = ${secret}`);
    const content = (answer: { hookSpecificOutput: { updatedToolOutput: { file: { content: string } } } }) =>
      answer.hookSpecificOutput.updatedToolOutput.file.content;
    const unreachable = await hook(event, { env: { CONTEXTD_HOME: '/proc/contextd' } });
    expect(JSON.stringify(unreachable)).not.toContain(secret);
    expect(content(unreachable)).toMatch(
      /^contextd withheld this output, because it could not be searched for secrets: /,
    );
    const denied = await hook(calling('Edit', { file_path: place('a.txt') }), {
      env: { CONTEXTD_HOME: '/proc/contextd' },
    });
    expect(denied.hookSpecificOutput.permissionDecision).toBe('deny');
    symlinkSync(PROXY, place('contextd-hook'));
    const moved = await hook(event, { program: place('contextd-hook') });
    expect(JSON.stringify(moved)).not.toContain(secret);
    const large = await hook(fileRead('one.conf', `token = ${secret}${'x'.repeat(MESSAGE_MAX_BYTES)}`));
    expect(JSON.stringify(large)).not.toContain(secret);
    expect(content(large)).toContain('the limit is');
  });

  it('SEC-3.2 refuses writes to the settings of clients in HOME, by every tool of both clients, and to contextd itself', async () => {
    const home = (name: string): string => join(at.environment.HOME ?? '', name);
    const paths = [
      ...['.claude/settings.json', '.claude/settings.local.json', '.claude.json', '.config/opencode/plugin/a.js'].map(
        home,
      ),
      join(at.home, 'config/config.json'),
      PROXY,
      join(dirname(at.project), 'opencode.json'),
    ];
    for (const path of paths)
      for (const [tool, input] of [
        ['Write', { file_path: path, content: '{}' }],
        ['MultiEdit', { file_path: path, edits: [{ old_string: 'a', new_string: 'b' }] }],
        ['NotebookEdit', { notebook_path: path, new_source: 'x' }],
        ['edit', { filePath: path, oldString: 'a', newString: 'b' }],
        ['apply_patch', { patchText: `*** Begin Patch\n*** Update File: ${path}\n@@\n-a\n+b\n*** End Patch` }],
      ] as const) {
        const denied = await hook(calling(tool, input));
        expect(denied?.hookSpecificOutput.permissionDecision, `${tool} ${path}`).toBe('deny');
      }
    const memory = home('.claude/projects/-p/memory/MEMORY.md');
    expect(await hook(calling('Write', { file_path: memory, content: '# notes' }))).toBeNull();
  });

  it('refuses a change with a text that was shown with a backslash, and names the call that writes the original', async () => {
    const content = 'use [SECRET_9] here\n';
    writeFileSync(place('guide.md'), content);
    const masked = await hook(fileRead('guide.md', content));
    const shown = masked.hookSpecificOutput.updatedToolOutput.file.content;
    expect(shown).toBe('use [SECRET\\_9] here\n');
    const denied = await hook(calling('Write', { file_path: place('guide.md'), content: `${shown}more\n` }));
    const { permissionDecision, permissionDecisionReason } = denied.hookSpecificOutput;
    expect(permissionDecision).toBe('deny');
    const command = permissionDecisionReason.split('\n').at(-1);
    const { code } = await at.runProcess('bash', ['-c', `.claude/bin/${command}`], {
      env: { CONTEXTD_SESSION_ID: SESSION },
    });
    expect(code).toBe(0);
    expect(readFileSync(place('guide.md'), 'utf8')).toBe(`${content}more\n`);
  });

  it('reaches the wrong daemon with another CONTEXTD_HOME, and says which command of a person helps', async () => {
    const other = mkdtempSync(join(tmpdir(), 'other-home-'));
    const env = { CONTEXTD_HOME: other };
    try {
      writeFileSync(place('plain.txt'), 'plain\n');
      const said = JSON.stringify(await hook(fileRead('plain.txt', 'plain\n'), { env }));
      expect(said).toContain(`${at.project} is not a registered project of the contextd in ${other}`);
      const [, remedy = ''] = /`(CONTEXTD_HOME=\S+ ctxd init [^`]+)`/.exec(said) ?? [];
      const shell = await at.runProcess(place('.claude/bin/safe_bash'), ['echo hi'], { env });
      expect(shell.stderr).toContain(`\`${remedy}\``);
      const done = await at.runProcess('bash', ['-c', remedy.replace('ctxd', CTXD)], {
        env: { CONTEXTD_HOME: '/gone' },
      });
      expect(done).toMatchObject({ code: 0 });
      expect(await hook(fileRead('plain.txt', 'plain\n'), { env })).toBeNull();
      expect((await at.runProcess(place('.claude/bin/safe_bash'), ['echo hi'], { env })).stdout).toBe('hi\n');
    } finally {
      await at.runProcess(CTXD, ['server', 'stop'], { env });
      rmSync(other, { recursive: true, force: true });
    }
  });

  it('ctxd doctor notices hooks that are missing or turned off, and init brings them back', async () => {
    const file = place('.claude/settings.local.json');
    const settings = readFileSync(file, 'utf8');
    const line = async (): Promise<string | undefined> =>
      (await at.run(CTXD, ['doctor'])).stdout.split('\n').find((one) => one.includes('client hooks'));
    expect(await line()).toBeUndefined();
    const { hooks, ...others } = JSON.parse(settings);
    writeFileSync(file, JSON.stringify({ ...others, hooks: { ...hooks, PostToolUse: [] } }));
    expect(await line()).toMatch(/no hook of contextd for PostToolUse: what its own tools show is not masked/);
    await at.run(CTXD, ['init']);
    expect(await line()).toBeUndefined();
    writeFileSync(file, JSON.stringify({ ...JSON.parse(settings), disableAllHooks: true }));
    expect(await line()).toContain('turns all hooks off');
    await at.run(CTXD, ['init', '--uninstall']);
    expect(readFileSync(file, 'utf8')).not.toContain('contextd-hook');
    expect(existsSync(place('.claude/bin/contextd-hook'))).toBe(false);
  });
});
