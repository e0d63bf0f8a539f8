import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runGemini } from '#src/cli/doctor/clients/run-client.js';
import type { Step } from '#src/cli/doctor/clients/scripted-model.js';
import { findGemini } from '../../bench/lib/clients/programs.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';

const found = findGemini();
const gemini = found ?? '';

/** A token of a provider's form, in a file of the project. */
const CANARY = `ghp_${randomBytes(60)
  .toString('base64')
  .replaceAll(/[^A-Za-z0-9]/g, '')
  .slice(0, 36)}`;

let one: Installation;
beforeAll(async () => {
  if (found === undefined) return;
  one = await install({ warm: true });
  mkdirSync(join(one.project, '.gemini'));
  writeFileSync(join(one.project, '.gemini/settings.json'), SETTINGS);
  const { code, stdout } = await one.run(CTXD, ['init', '--no-shell']);
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('Gemini CLI is set up') });
});
afterAll(() => one?.remove());

const SETTINGS = '{\n  // of the person\n  "ui": { "theme": "Default" }\n}\n';
const where = () => ({ cwd: one.project, env: { CONTEXTD_HOME: one.home } });
const contentOf = (name: string): string => readFileSync(join(one.project, name), 'utf8');
const call = (tool: string, input: Record<string, unknown>): Step => ({ tool, input });

describe.skipIf(found === undefined)('issue 35: in the real Gemini CLI, after `ctxd init`', () => {
  it('hooks mask what its tools show, and leave other output as it is', async () => {
    writeFileSync(join(one.project, 'app.conf'), `user = deploy\ntoken = ${CANARY}\n`);
    const { results, requests } = await runGemini(
      gemini,
      [
        'cat app.conf',
        'cat app.conf; exit 3',
        call('read_file', { file_path: 'app.conf' }),
        call('grep_search', { pattern: 'token' }),
        'echo plain; exit 4',
      ],
      where(),
    );
    for (const { text } of results.slice(0, 4)) expect(text).toMatch(/token = \[SECRET_1\]/);
    expect(results[1]?.text).toContain('Exit Code: 3');
    expect(results[4]?.text).toMatch(/plain\nExit Code: 4/);
    expect(requests.join('\n')).not.toContain(CANARY);
  });

  it('edits with a token or of a protected name are refused, and others are done and can be undone', async () => {
    writeFileSync(join(one.project, 'app.conf'), `user = deploy\ntoken = ${CANARY}\n`);
    const { results } = await runGemini(
      gemini,
      [
        call('read_file', { file_path: 'app.conf' }),
        call('write_file', { file_path: 'other.conf', content: 'token = [SECRET_1]\n' }),
        call('write_file', { file_path: '.vscode/tasks.json', content: '{}\n' }),
        call('replace', { file_path: 'app.conf', instruction: 'x', old_string: 'deploy', new_string: 'release' }),
      ],
      where(),
    );
    expect(results[1]?.text).toContain('safe_write of the MCP server contextd');
    expect(results[2]?.text).toContain('is protected');
    expect(existsSync(join(one.project, 'other.conf'))).toBe(false);
    expect(existsSync(join(one.project, '.vscode'))).toBe(false);
    expect(contentOf('app.conf')).toContain('user = release');
    expect((await one.run(CTXD, ['undo', '--list'])).stdout).toContain('app.conf');
  });

  it('a prompt that mentions a file with a secret is refused', async () => {
    writeFileSync(join(one.project, 'app.conf'), `user = deploy\ntoken = ${CANARY}\n`);
    const { requests, log } = await runGemini(gemini, [], { ...where(), prompt: 'Look at @app.conf please.' });
    expect(requests.join('\n')).not.toContain(CANARY);
    expect(log).toContain('holds a secret');
  });

  it('the MCP server contextd runs the tools', async () => {
    const step = call('mcp_contextd_safe_bash', { command: 'cat app.conf; echo $((40 + 2))' });
    const { results, requests } = await runGemini(gemini, [step], where());
    expect(results[0]?.text).toContain('[SECRET_1]');
    expect(results[0]?.text).toContain('42');
    expect(requests.join('\n')).not.toContain(CANARY);
  });

  it('`ctxd init --uninstall` leaves the settings as they were', async () => {
    expect((await one.run(CTXD, ['init', '--uninstall'])).code).toBe(0);
    expect(contentOf('.gemini/settings.json')).toBe(SETTINGS);
  });
});
