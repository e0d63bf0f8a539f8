import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { literalWords } from '#src/proxy/shell/literal-words.js';
import { propertyRuns } from '../../../helpers/property-runs.ts';

/** The words of each command, as bash passes them on. A command is run only after `literalWords` said that it has words alone. */
function wordsInBash(commands: readonly string[]): string[][] {
  const script = commands.map((command) => `printf '%s\\0' ${command}\nprintf '\\1'`).join('\n');
  const { stdout } = spawnSync('/bin/bash', ['--norc'], {
    input: `cd /\n${script}`,
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin' },
  });
  return stdout
    .split('\u0001')
    .slice(0, -1)
    .map((line) => line.split('\0').slice(0, -1));
}

const PIECE = fc.oneof(
  fc.constantFrom(...`abz09 _-./@%+=:,~#!*?[]{}()<>|&;$'"\\\`\t\n^`.split('')),
  fc.constantFrom(
    "'a b'",
    '"a b"',
    '"\\""',
    "'it'\\''s'",
    '$HOME',
    '$(id)',
    '2>&1',
    ' ',
    '  ',
    '\\ ',
    '~/x',
    '{a,b}',
    'A=1',
  ),
  fc.constantFrom(`"$(cat <<'EOF'\nany $x \`y\` "z" 'w'\n\nEOF\n)"`, `"$(cat <<'E1'\nE2\nE1\n)"`),
);
const COMMAND = fc.array(PIECE, { minLength: 1, maxLength: 8 }).map((pieces) => `x${pieces.join('')}`);

describe('issue 35 part 1: the words of a command that is a call of a tool', () => {
  it('are those that bash would pass on', () => {
    const accepted: [command: string, words: string[]][] = [];
    fc.assert(
      fc.property(COMMAND, (command) => {
        const words = literalWords(command);
        if (words !== null) accepted.push([command.trim().replace(/\s+2>&1$/, ''), words]);
      }),
      { numRuns: propertyRuns() * 10 },
    );
    expect(accepted.length).toBeGreaterThan(propertyRuns() / 10);
    expect(wordsInBash(accepted.map(([command]) => command))).toEqual(accepted.map(([, words]) => words));
  });

  it.each([
    ["safe_read 'a b.ts' --lines 3", ['safe_read', 'a b.ts', '--lines', '3']],
    [`safe_bash --command "$(cat <<'EOF'\nit's $x\nEOF\n)"`, ['safe_bash', '--command', "it's $x"]],
    [`safe_bash '{"command":"ls"}' 2>&1`, ['safe_bash', '{"command":"ls"}']],
  ])('of %j are literal', (command, words) => {
    expect(literalWords(command)).toEqual(words);
  });

  it.each([
    'safe_read a | head',
    'safe_read a && rm b',
    'safe_read "$FILE"',
    'safe_read *.ts',
    'safe_read ~/x',
    'FOO=1 safe_read a',
    'safe_read a > b',
    'safe_read a &',
    'safe_read $(ls)',
    'safe_read {a,b}',
    '(safe_read a)',
    'safe_read a # why',
    "safe_read 'a",
    '',
  ])('of %j are not', (command) => {
    expect(literalWords(command)).toBeNull();
  });
});
