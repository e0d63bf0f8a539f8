import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCodex } from '#src/cli/doctor/clients/run-client.js';
import type { Step } from '#src/cli/doctor/clients/scripted-model.js';
import { findCodex } from '../../bench/lib/clients/programs.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';

const found = findCodex();
const codex = found ?? '';

/** A token of a provider's form, in a file of the project. */
const CANARY = `ghp_${randomBytes(60)
  .toString('base64')
  .replaceAll(/[^A-Za-z0-9]/g, '')
  .slice(0, 36)}`;

let one: Installation;
beforeAll(async () => {
  if (found === undefined) return;
  one = await install({ warm: true });
  expect((await one.run(CTXD, ['init', '--no-shell', '--client', 'codex'])).code).toBe(0);
  writeFileSync(join(one.project, 'app.conf'), `user = deploy\ntoken = ${CANARY}\n`);
});
afterAll(() => one?.remove());

const where = () => ({ cwd: one.project, env: { CONTEXTD_HOME: one.home } });
const patch = (body: string): Step => ({
  tool: 'exec_command',
  input: { cmd: `apply_patch <<'EOF'\n*** Begin Patch\n${body}\n*** End Patch\nEOF\n` },
});

const bashOfServer = (command: string): Step => ({
  namespace: 'mcp__contextd',
  tool: 'safe_bash',
  input: { command },
});

/** Codex begins a conversation without a server that is slow to start, unless the server is required. */
const WAITING = [
  ...['-c', 'mcp_servers.contextd.required=true'],
  ...['-c', 'mcp_servers.contextd.startup_timeout_sec=100'],
];

/** Codex keeps its own sandbox off the machine's directory for temporary files, so its home is elsewhere. */
async function withHome(use: (home: string) => Promise<void>): Promise<void> {
  mkdirSync('/var/tmp', { recursive: true });
  const home = mkdtempSync('/var/tmp/codex-');
  try {
    await use(home);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

describe.skipIf(found === undefined)('issue 35: in the real Codex, after `ctxd init --client codex`', () => {
  it('its hooks mask what commands show, also failing ones, and leave other output as it is', async () => {
    const { results, requests } = await runCodex(
      codex,
      ['cat app.conf', 'cat app.conf; exit 3', 'echo plain; exit 4', patch('*** Add File: made.txt\n+made')],
      where(),
    );
    expect(results[0]?.text).toMatch(/^user = deploy\ntoken = \[SECRET_1\]/);
    expect(results[1]?.text).toMatch(/^user = deploy\ntoken = \[SECRET_1\]/);
    expect(results[2]?.text).toMatch(/exited with code 4[\s\S]*plain/);
    expect(readFileSync(join(one.project, 'made.txt'), 'utf8')).toBe('made\n');
    expect(requests.join('\n')).not.toContain(CANARY);
  });

  it('its MCP server contextd runs the tools while its own sandbox is on, if the person lets it', () =>
    withHome(async (home) => {
      const calls = [bashOfServer('cat app.conf; echo $((40 + 2))')];
      const confined = { ...where(), home, words: ['--sandbox', 'workspace-write', ...WAITING] };
      expect((await runCodex(codex, calls, confined)).results[0]?.text).toContain('requires approval');
      const allow = 'mcp_servers.contextd.default_tools_approval_mode="approve"';
      const { results, requests } = await runCodex(codex, calls, {
        ...confined,
        words: [...confined.words, '-c', allow],
      });
      expect(results[0]?.text).toContain('[SECRET_1]');
      expect(results[0]?.text).toContain('42');
      expect(requests.join('\n')).not.toContain(CANARY);
    }));

  it('a call of a tool in its own sandbox fails with the two ways that work, and both do', () =>
    withHome(async (home) => {
      const call = '.claude/bin/safe_bash "echo $((40 + 2))"';
      const closed = { ...where(), home, words: ['--sandbox', 'workspace-write'] };
      const [refused] = (await runCodex(codex, [call], closed)).results;
      expect(refused?.text).toContain('DAEMON_UNAVAILABLE');
      expect(refused?.text).toContain('MCP server contextd');
      expect(refused?.text).not.toContain('excludedCommands');
      const option = /sandbox_workspace_write\.network_access=true/.exec(refused?.text ?? '')?.[0] ?? '';
      const open = { ...closed, words: [...closed.words, '-c', option] };
      expect((await runCodex(codex, [call], open)).results[0]?.text).toMatch(/\n42\n/);
    }));

  it('has no shell of its own with features.shell_tool=false, and the tools of contextd instead', async () => {
    const words = ['--sandbox', 'danger-full-access', '-c', 'features.shell_tool=false', ...WAITING];
    const options = { ...where(), words };
    const { tools, results } = await runCodex(codex, [bashOfServer('echo $((40 + 2))')], options);
    const names = tools.map((tool) => ('name' in tool ? tool.name : ''));
    expect(names).not.toContain('exec_command');
    expect(results[0]?.text).toContain('42');
  });

  it('`ctxd init --uninstall` leaves nothing of it', async () => {
    expect((await one.run(CTXD, ['init', '--uninstall'])).code).toBe(0);
    expect(existsSync(join(one.project, '.codex'))).toBe(false);
  });
});
