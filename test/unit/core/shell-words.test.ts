import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isProgramName } from '#src/catalog/reserved-names.js';
import { TOOL_NAME_PATTERN } from '#src/catalog/tool-name.js';
import { layoutFor } from '#src/cli/init/layout.js';
import { shellNameOf } from '#src/core/shell-names.js';
import { isShellWord } from '#src/core/shell-words.js';
import { toolText } from '../cli/init/tree.ts';

/** How each shell lists its own words. dash cannot list them. */
const SHELLS: Record<string, readonly string[]> = {
  bash: ['--norc', '-c', 'compgen -b -k -a'],
  zsh: ['-fc', 'enable; enable -r; alias'],
  fish: ['--no-config', '-c', 'builtin -n; functions -n'],
  ksh93: ['-c', 'builtin; alias'],
  mksh: ['-c', 'alias'],
  tcsh: ['-fc', 'builtins'],
};

function programOf(shell: string): string | undefined {
  return ['/usr/bin', '/bin', '/usr/local/bin'].map((dir) => join(dir, shell)).find((path) => existsSync(path));
}

describe('the words that shells keep for themselves', () => {
  for (const [shell, args] of Object.entries(SHELLS)) {
    const program = programOf(shell);
    if (program === undefined) console.warn(`SKIPPED: the words of ${shell} (not installed)`);
    it.skipIf(program === undefined)(`issue 28: no tool can have a name that ${shell} has itself`, () => {
      const { stdout } = spawnSync(program ?? '', args, { encoding: 'utf8', env: { PATH: '/usr/bin:/bin' } });
      const own = stdout
        .split(/[\s,]+/)
        .map((word) => word.replace(/=.*/, ''))
        .filter((word) => TOOL_NAME_PATTERN.test(word));
      expect(own.length).toBeGreaterThan(5);
      expect(own.filter((word) => !isShellWord(word))).toEqual([]);
      expect(own.filter((word) => !isProgramName(word))).toEqual([]);
    });
  }

  it('issue 28: no tool can have the name of an alias that Debian gives to new accounts', () => {
    const file = '/etc/skel/.bashrc';
    const text = existsSync(file) ? readFileSync(file, 'utf8') : 'alias ll="ls -l"\n';
    const aliases = [...text.matchAll(/^\s*#?\s*alias (\w+)=/gm)].map(([, name = '']) => name);
    expect(aliases).toContain('ll');
    expect(aliases.filter((name) => !isShellWord(name))).toEqual([]);
  });

  it('issue 28: no rule that init writes allows a name that a shell has itself, whatever the tools are called', () => {
    const core = readdirSync(join(import.meta.dirname, '../../../tools'));
    const names = [...new Set([...core, 'jobs', 'return', 'weather'])];
    expect(names.map(shellNameOf).filter(isShellWord)).toEqual([]);
    const installed = ['disown', 'noglob', 'll'].map((name) => ({ ...toolText(name), isCore: false }));
    const tools = [...names.map((name) => toolText(name)), ...installed];
    const merges = layoutFor(tools, '/srv/shop', '/opt/contextd-proxy').merges([]);
    const commands = ['.claude/settings.json', '.claude/settings.local.json'].flatMap((file) => {
      const addition = merges.get(file);
      const entries = addition?.kind === 'json' ? addition.entries : [];
      const values = entries.filter(({ path }) => path[1] === 'allow' || path[1] === 'excludedCommands');
      return values.map(({ value }) => String(value).replace(/^Bash\((.*)\)$/, '$1'));
    });
    expect(commands.length).toBeGreaterThan(core.length);
    for (const command of commands) {
      // One program by its whole name or path, and its arguments.
      expect(command).toMatch(/^(?:\/srv\/shop\/\.claude\/bin\/|\.claude\/tools\/\w+\/)?\w+ \*$/);
      expect(isShellWord(command.replace(/ \*$/, '')), command).toBe(false);
    }
  });
});
