import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unwrap } from '#src/proxy/shell/claude-wrapper.js';
import { propertyRuns } from '../../../helpers/property-runs.ts';

const TEMPORARY = ['/tmp'];
const FILE = '/tmp/claude-38ca-cwd';

/** As Claude Code quotes. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'"'"'`)}'`;
}

// What Claude Code 2.1.197 and 2.1.329 put before a command, with and without what hooks wrote into CLAUDE_ENV_FILE.
const SNAPSHOT = 'source /home/ann/.claude/shell-snapshots/snapshot-bash-1-x.sh 2>/dev/null || true && ';
const EXTGLOB = '\\builtin shopt -u extglob 2>/dev/null || true && ';
const FUNCTIONS = `{ \\builtin unalias -- 'which'; \\builtin unset -f -- 'which'; } >/dev/null 2>&1 || true && `;
const PATH_LINE = `export PATH='/home/ann/app/.claude/bin':"$PATH"\n`;
const SETUPS = [
  '',
  SNAPSHOT,
  'shopt -u extglob 2>/dev/null || true && ',
  `${SNAPSHOT}shopt -u extglob 2>/dev/null || true && `,
  'setopt NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL 2>/dev/null || true && ',
  `${SNAPSHOT}${EXTGLOB}`,
  `${SNAPSHOT}${EXTGLOB}${FUNCTIONS}${FUNCTIONS}`,
  `${PATH_LINE}: && ${EXTGLOB}${FUNCTIONS}`,
  `${SNAPSHOT}${PATH_LINE}${PATH_LINE}: && ${EXTGLOB}${FUNCTIONS}`,
];
const INPUTS = ['', ' < /dev/null', ' \\< /dev/null'];

function wrapped(command: string, setup: string, input: string): string {
  return `${setup}eval ${quoted(command)}${input} && pwd -P >| ${FILE}`;
}

/** Everything that means something to the wrappers of clients, to a shell, or to contextd. */
const MARKS = [
  ...["'", '"', '\\', '\n', ' ', '$', '`', ';', '&&', '||', '|', '>|', '<', '(', ')', '{', '}', '#', '!', '~', '*'],
  ...SETUPS,
  ...INPUTS,
  `'"'"'`,
  " && eval 'x' < /dev/null && pwd -P >| /tmp/claude-38ca-cwd",
  "eval 'touch made' && pwd -P >| /tmp/claude-1111-cwd",
  'SNAPSHOT_FILE=/tmp/snapshot-bash-1.sh',
  'declare -f > "$SNAPSHOT_FILE"',
  '\n: && ',
  'contextd-sh -c',
  'safe_bash',
  '[SECRET_1]',
  'CLAUDECODE=',
  'exit 3',
];
const COMMAND = fc.array(fc.oneof(fc.constantFrom(...MARKS), fc.string({ unit: 'grapheme', maxLength: 6 })), {
  maxLength: 8,
});

describe('issue 35 part 1: the wrapper of Claude Code', () => {
  it('gives back any command, whatever marks of wrappers are in it', () => {
    fc.assert(
      fc.property(COMMAND, fc.constantFrom(...SETUPS), fc.constantFrom(...INPUTS), (parts, setup, input) => {
        const command = parts.join('');
        expect(unwrap(wrapped(command, setup, input), TEMPORARY)).toEqual({
          command,
          variables: {},
          directoryFile: FILE,
        });
      }),
      { numRuns: propertyRuns() },
    );
  });

  it('is known around a word that needs no quotes', () => {
    for (const setup of SETUPS)
      for (const command of ['pwd', 'ls', './run.sh', 'a=b', '/usr/bin/make'])
        expect(unwrap(`${setup}eval ${command} \\< /dev/null && pwd -P >| ${FILE}`, TEMPORARY)).toEqual({
          command,
          variables: {},
          directoryFile: FILE,
        });
    for (const command of ['pwd;', 'a b', '$X', '~', 'a*', 'a&&b'])
      expect(unwrap(`eval ${command} && pwd -P >| ${FILE}`, TEMPORARY)).toBeNull();
  });

  it('is nothing that a command alone can be: no text without the wrapper around it is recognized', () => {
    fc.assert(
      fc.property(COMMAND, (parts) => {
        const command = parts.join('');
        // A command that is itself a whole wrapper means the same inside.
        fc.pre(!command.endsWith('-cwd'));
        expect(unwrap(command, TEMPORARY)).toBeNull();
      }),
      { numRuns: propertyRuns() },
    );
  });

  it('is run as a shell would run it: bash gets the same command out of it', () => {
    for (const setup of SETUPS.filter((one) => !one.includes('setopt'))) {
      const text = wrapped(`printf %s "it's" $((1+1))\nprintf ' %s' 'a "b"'`, setup, ' < /dev/null').replace(
        FILE,
        '/dev/stderr',
      );
      const { stdout } = spawnSync('bash', ['-c', text], { cwd: '/', encoding: 'utf8' });
      const { command } =
        unwrap(wrapped(`printf %s "it's" $((1+1))\nprintf ' %s' 'a "b"'`, setup, ' < /dev/null'), TEMPORARY) ?? {};
      expect(spawnSync('bash', ['-c', command ?? ''], { encoding: 'utf8' }).stdout).toBe(stdout);
    }
  });

  it('carries the variables that hooks of the session export, and runs anything else that they wrote inside', () => {
    const text = (script: string) => `${SNAPSHOT}${script}\n: && ${EXTGLOB}eval 'make' && pwd -P >| ${FILE}`;
    expect(unwrap(text(`${PATH_LINE}export NODE_ENV=test\nexport A='it is' B="x y"`), TEMPORARY)).toEqual({
      command: 'make',
      variables: { NODE_ENV: 'test', A: 'it is', B: 'x y' },
      directoryFile: FILE,
    });
    expect(unwrap(text('export NODE_ENV=$(cat env)'), TEMPORARY)).toEqual({
      command: 'export NODE_ENV=$(cat env)\nmake',
      variables: {},
      directoryFile: FILE,
    });
  });

  it.each([
    '/home/ann/.bashrc',
    '/tmp/other-38ca-cwd',
    '/tmp/sub/claude-38ca-cwd',
    '/etc/claude-38ca-cwd',
    '/tmp/../etc/claude-1-cwd',
  ])('is not recognized if it would write %s', (file) => {
    expect(unwrap(wrapped('true', SNAPSHOT, '').replace(FILE, file), TEMPORARY)).toBeNull();
  });
});
