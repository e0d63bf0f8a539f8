import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { placesOf } from '#src/cli/commands/completion.js';
import { GROUPS, loadCommands } from '#src/cli/commands.js';
import { CTXD, ROOT } from '../../helpers/installation.ts';

const scriptFor = (shell: string): string => spawnSync(CTXD, ['completion', shell], { encoding: 'utf8' }).stdout;

/** What each shell offers for a command line whose last word is being typed. */
const OFFERS: Record<string, (script: string, words: readonly string[]) => string[]> = {
  bash(script, words) {
    const line = ['ctxd', ...words].map((word) => `'${word}'`).join(' ');
    return lines(
      'bash',
      `${script}\nCOMP_WORDS=(${line}); COMP_CWORD=${words.length}; _ctxd; printf '%s\\n' "\${COMPREPLY[@]}"`,
    );
  },
  zsh(script, words) {
    const line = ['ctxd', ...words].map((word) => `'${word}'`).join(' ');
    const standIns = `compdef() { :; }; _files() { :; }; _describe() { print -l -- "\${(@)names%%:*}"; }`;
    const typed = words.at(-1) ?? '';
    const all = lines('zsh', `${standIns}\n${script}\nwords=(${line}); CURRENT=${words.length + 1}; _ctxd`);
    return all.filter((word) => word.startsWith(typed));
  },
  fish(script, words) {
    return lines('fish', `${script}\ncomplete -C 'ctxd ${words.join(' ')}'`).map((line) => line.split('\t')[0] ?? '');
  },
};

function lines(shell: string, script: string): string[] {
  const { stdout, stderr, status } = spawnSync(shell, ['-c', script], { encoding: 'utf8' });
  if (status !== 0 && stderr !== '') throw new Error(stderr);
  return stdout.split('\n').filter((line) => line !== '');
}

const isHere = (program: string): boolean => ['/usr/bin', '/bin'].some((dir) => existsSync(join(dir, program)));

const COMMANDS = await loadCommands();

describe('shell completion', () => {
  for (const [shell, offers] of Object.entries(OFFERS)) {
    if (!isHere(shell)) process.stdout.write(`completion in ${shell}: not run, ${shell} is not installed\n`);
    describe.runIf(isHere(shell))(`in ${shell}`, () => {
      it('offers commands, then subcommands, then options', () => {
        const script = scriptFor(shell);
        expect(offers(script, ['ser'])).toEqual(['server']);
        expect(offers(script, ['server', 'st']).sort()).toEqual(['start', 'status', 'stop']);
        expect(offers(script, ['server', 'logs', '--fo'])).toEqual(['--follow']);
        expect(offers(script, ['config', 'get', 'budget.default_tokens', '--js'])).toEqual(['--json']);
        expect(offers(script, ['scrub', 'app'])).toEqual(['approve']);
      });

      it('offers every command', () => {
        const script = scriptFor(shell);
        const names = new Set(COMMANDS.map(({ name }) => name[0] ?? ''));
        expect(new Set(offers(script, ['']).filter((word) => !word.startsWith('-')))).toEqual(names);
      });
    });
  }

  it('names every option of every command', () => {
    const places = placesOf({ commands: COMMANDS, groups: GROUPS });
    for (const { name, options } of COMMANDS) {
      const words = places.find(({ path }) => path.join(' ') === name.join(' '))?.words.map(({ word }) => word);
      for (const { syntax } of options) expect(words).toContain(/--[\w-]+/.exec(syntax)?.[0]);
    }
  });

  it('refuses an unknown shell and names the known ones', () => {
    const { status, stderr } = spawnSync(CTXD, ['completion', 'tcsh'], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: 'ctxd: there is no completion for the shell "tcsh". Pass one of bash, zsh, fish.\n',
    });
  });
});

describe('the manual page', () => {
  const page = readFileSync(join(ROOT, 'share/man/man1/ctxd.1'), 'utf8');

  it('has every command and option', () => {
    for (const { name, options } of COMMANDS) {
      expect(page).toContain(`.SS ctxd ${name.join(' ').replaceAll('-', '\\-')}`);
      for (const { syntax } of options) expect(page).toContain(syntax.replaceAll('-', '\\-'));
    }
  });

  it.runIf(isHere('man'))('is rendered by man without a warning', () => {
    const { stdout, stderr, status } = spawnSync('man', ['--warnings', '-l', join(ROOT, 'share/man/man1/ctxd.1')], {
      encoding: 'utf8',
      env: { PATH: '/usr/bin:/bin', MANWIDTH: '200', LC_ALL: 'C.UTF-8' },
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('ctxd completion [shell]');
  });
});
