import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Installation, install } from '../helpers/installation.ts';
import { generate, seededRandom } from '../helpers/secret-samples.ts';

const hasScript = (() => {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux');
  } catch {
    return false;
  }
})();
if (!hasScript) process.stdout.write('progress on a terminal: not run, there is no `script` of util-linux here\n');

/** Makes a call on a pseudo-terminal. The terminal shows only stderr; stdout goes to a file. */
async function callOnTerminal(at: Installation, input: object, flags: string, onText: (seen: string) => void) {
  const dir = mkdtempSync(join(tmpdir(), 'terminal-'));
  const out = join(dir, 'out');
  writeFileSync(join(at.project, 'in'), JSON.stringify(input));
  const command = `.claude/tools/safe_bash/safe_bash ${flags} @in >'${out}'`;
  const child = spawn('script', ['-qec', command, '/dev/null'], { cwd: at.project, env: at.environment });
  child.stdin.end();
  let seen = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    seen += text;
    onText(seen);
  });
  const [code] = await once(child, 'close');
  const stdout = readFileSync(out, 'utf8');
  rmSync(dir, { recursive: true });
  return { code, stdout, terminal: seen.replaceAll('\r\n', '\n') };
}

/** A command that waits in the sandbox until the test creates a file. */
const untilFile = (name: string): string => `until [ -e ${name} ]; do read -t 0.05 <> <(:) || :; done`;

describe.runIf(hasScript)('the progress of a command on a terminal', () => {
  let at: Installation;
  beforeAll(async () => {
    at = await install({ warm: true });
  });
  afterAll(() => at.remove());

  it('is shown before the command ends, and is not part of the answer', async () => {
    let wentOn = false;
    const { code, stdout, terminal } = await callOnTerminal(
      at,
      { command: `echo begun; echo careful >&2; ${untilFile('go-on')}; echo done` },
      '--progress',
      (seen) => {
        if (wentOn || !seen.includes('begun') || !seen.includes('careful')) return;
        wentOn = true;
        writeFileSync(join(at.project, 'go-on'), '');
      },
    );
    expect([wentOn, code]).toEqual([true, 0]);
    expect(terminal).toMatch(/^begun\ncareful\n/);
    expect(stdout.split('\n')).toHaveLength(2);
    expect(JSON.parse(stdout)).toMatchObject({ success: true, data: { stdout: 'begun\ndone\n', stderr: 'careful\n' } });
  });

  it('is one line that disappears again, if nobody asked for all of it', async () => {
    const { stdout, terminal } = await callOnTerminal(
      at,
      { command: `echo begun; ${untilFile('line-seen')}; echo done` },
      '',
      (seen) => {
        if (/running \d+ s · begun/.test(seen)) writeFileSync(join(at.project, 'line-seen'), '');
      },
    );
    expect(JSON.parse(stdout)).toMatchObject({ data: { stdout: 'begun\ndone\n' } });
    expect(terminal.split('\r\u001b[K').at(-1)).toBe('');
    expect(terminal).not.toContain('\n');
  });

  it('SEC-1.1 SEC-1.3 never shows a secret, even one printed in halves, and uses the same token as the answer', async () => {
    const secret = generate('ghp_[A-Za-z0-9]{36}', seededRandom(Date.now()));
    const [first, second] = [secret.slice(0, 20), secret.slice(20)];
    writeFileSync(join(at.project, 'first'), first);
    writeFileSync(join(at.project, 'second'), second);
    let half = false;
    let whole = false;
    const { stdout, terminal } = await callOnTerminal(
      at,
      {
        command: `echo one; printf token=; cat first; ${untilFile('half')}; cat second; echo; echo two; ${untilFile('whole')}; echo end`,
      },
      '--progress',
      (seen) => {
        if (!half && seen.includes('one')) writeFileSync(join(at.project, 'half'), '');
        if (!whole && seen.includes('token=')) writeFileSync(join(at.project, 'whole'), '');
        half ||= seen.includes('one');
        whole ||= seen.includes('token=');
      },
    );
    expect(whole).toBe(true);
    expect(terminal).toMatch(/^one\ntoken=\[SECRET_1\]\n/);
    expect(terminal).not.toContain(first);
    expect(terminal).not.toContain(second);
    expect(JSON.parse(stdout).data.stdout).toBe('one\ntoken=[SECRET_1]\ntwo\nend\n');
  });

  it('cannot control the terminal', async () => {
    const { terminal } = await callOnTerminal(
      at,
      { command: `printf '\\033]0;title\\007\\033[2J\\033[1;1Hback\\n'; ${untilFile('seen')}` },
      '--progress',
      (seen) => {
        if (seen.includes('back')) writeFileSync(join(at.project, 'seen'), '');
      },
    );
    expect(terminal).toContain('back');
    expect(terminal).not.toContain(String.fromCharCode(27));
    expect(terminal).not.toContain(String.fromCharCode(7));
  });

  it('of a short call is not shown unless it was asked for', async () => {
    const { stdout, terminal } = await callOnTerminal(at, { command: 'echo quiet' }, '', () => {});
    expect([terminal, JSON.parse(stdout).data.stdout]).toEqual(['', 'quiet\n']);
  });

  it('is not shown if stderr is not a terminal, because an agent would read it', async () => {
    const { stderr, stdout } = await at.run('.claude/tools/safe_bash/safe_bash', [
      '--progress',
      '{"command":"echo loud; seq 200000 | tail -1"}',
    ]);
    expect([stderr, JSON.parse(stdout).data.stdout]).toEqual(['', 'loud\n200000\n']);
  });
});
