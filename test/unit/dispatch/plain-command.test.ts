import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { faultOfName } from '#src/core/variable-names.js';
import { readPlainCommand } from '#src/dispatch/check-secrets.js';

describe('SEC-1.4 a command that may get a secret', () => {
  it.each([
    ['gh pr list', 'gh'],
    ["  psql -c 'select 1; drop $x' \t-h db", 'psql'],
    ['git push "origin main" --tags', 'git'],
    ['aws s3 cp a=b,c %x @y +z', 'aws'],
    ["x 'two\nlines'", 'x'],
  ])('may be %s', (command, program) => {
    expect(readPlainCommand(command)).toEqual({ program, fault: null });
  });

  it.each([
    '',
    ' ',
    'gh;id',
    'gh & id',
    'gh | id',
    'gh && id',
    'gh\nid',
    'gh $X',
    'gh "$X"',
    'gh "`id`"',
    'gh `id`',
    'gh $(id)',
    'gh <(id)',
    'gh >f',
    'gh <f',
    'gh *',
    'gh a?',
    'gh [a]',
    'gh {a,b}',
    'gh ~',
    'gh # x',
    'gh \\x',
    'gh "a\\"b"',
    "gh 'x",
    'X=1 gh',
    './gh',
    '/usr/bin/gh',
    "'gh'",
    'gh\0x',
    '! gh',
    '(gh)',
    'eval gh',
    'exec gh',
    'time gh',
    'echo x',
    'export',
    'source x',
    'if x',
    '. x',
    'gh\u00a0x',
    'gh\u2028x',
    'gh\rx',
  ])('may not be %j', (command) => {
    expect(readPlainCommand(command).program).toBeNull();
  });

  it('is one program with literal arguments when bash reads it', () => {
    const text = fc.string({ unit: fc.constantFrom(...'ab1 \'"$`\\;&|<>(){}[]*?~#!=%^-./\n\t'), maxLength: 12 });
    fc.assert(
      fc.property(text, (rest) => {
        const command = `show ${rest}`;
        if (readPlainCommand(command).program === null) return;
        const seen = execFileSync('bash', ['-c', `show() { printf '%s\\0' "$@"; }; ${command}`], { encoding: 'utf8' });
        const wanted = command.replace(/'([^']*)'|"([^"]*)"/g, (_q, one = '', two = '') => one + two);
        expect(seen.replaceAll('\0', '').replaceAll(/\s/g, '')).toBe(wanted.slice(5).replaceAll(/\s/g, ''));
      }),
    );
  });
});

describe('SEC-1.4 the name of a variable that holds a secret', () => {
  it.each(['GH_TOKEN', 'PGPASSWORD', 'NODE_AUTH_TOKEN', 'GIT_PASSWORD', 'AWS_SECRET_ACCESS_KEY', 'MY_VAR', '_x', 'a'])(
    'may be %s',
    (name) => {
      expect(faultOfName(name)).toBeNull();
    },
  );

  it.each([
    '',
    '1A',
    'A-B',
    'A=B',
    'BASH_FUNC_x%%',
    'A B',
    'É',
    'PATH',
    'HOME',
    'LD_PRELOAD',
    'LD_LIBRARY_PATH',
    'DYLD_INSERT_LIBRARIES',
    'BASH_ENV',
    'ENV',
    'IFS',
    'SHELLOPTS',
    'PS4',
    'PROMPT_COMMAND',
    'NODE_OPTIONS',
    'NODE_PATH',
    'PYTHONSTARTUP',
    'PERL5OPT',
    'RUBYOPT',
    'GCONV_PATH',
    'GIT_SSH_COMMAND',
    'GIT_CONFIG_COUNT',
    'GIT_CONFIG_KEY_0',
    'GIT_ASKPASS',
    'SSH_ASKPASS',
    'PAGER',
    'EDITOR',
    'HTTPS_PROXY',
    'https_proxy',
    'JAVA_TOOL_OPTIONS',
    'XDG_CONFIG_HOME',
    'npm_config_script_shell',
    'LC_ALL',
  ])('may not be %j', (name) => {
    expect(faultOfName(name)).not.toBeNull();
  });
});
