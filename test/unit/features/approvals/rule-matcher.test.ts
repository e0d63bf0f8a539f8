import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toolMatcher } from '#src/catalog/tool-glob.js';
import { compileOrAsk, compileRule, inputText } from '#src/features/approvals/rule-matcher.js';

const rule = (when: string, tool = 'safe_bash') => compileRule({ tool, when });
const bash = (command: string, more: Record<string, string> = {}) => ({
  tool: 'safe_bash',
  primary: 'command',
  input: { command, ...more },
});

describe('issue 32.3 a rule that asks', () => {
  it('issue 32.3 names tools exactly or with *, also those of other servers', () => {
    const matches = (glob: string, name: string) => toolMatcher(glob)(name);
    expect(matches('safe_bash', 'safe_bash')).toBe(true);
    expect(matches('safe_bash', 'safe_bash2')).toBe(false);
    expect(matches('safe.bash', 'safe_bash')).toBe(false);
    expect(matches('mcp_*', 'mcp_files')).toBe(true);
    expect(matches('github:*', 'github:create_issue')).toBe(true);
    expect(matches('*:create_*', 'github:create_issue')).toBe(true);
    expect(matches('*:create_*', 'github:list')).toBe(false);
    expect(matches('a*a', 'a')).toBe(false);
    expect(matches('*', 'anything')).toBe(true);
  });

  it('issue 32.3 agrees with the same glob as a regular expression', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 });
    fc.assert(
      fc.property(letters, letters, (glob, text) => {
        const name = text.replaceAll('*', 'c');
        expect(toolMatcher(glob)(name)).toBe(new RegExp(`^${glob.replaceAll('*', '.*')}$`).test(name));
      }),
    );
  });

  it('issue 32.3 is searched in the primary text, and in the whole input if there is more', () => {
    expect(rule('^git push')(bash('git push'))).toBe(true);
    expect(rule('^git push')(bash('echo git push'))).toBe(false);
    expect(rule('git push')(bash('sh', { stdin: 'git push' }))).toBe(true);
    expect(rule('"path":"/etc')({ tool: 'safe_bash', primary: null, input: { path: '/etc/x' } })).toBe(true);
    expect(rule('')(bash('anything'))).toBe(true);
    expect(rule('', 'safe_read')(bash('anything'))).toBe(false);
  });

  it('issue 32.3 shows all of an input, as words only if it has no other part', () => {
    expect(inputText(bash('git push'))).toBe('git push');
    expect(inputText(bash('sh', { stdin: 'git push' }))).toBe('{"command":"sh","stdin":"git push"}');
  });

  it('issue 32.4 asks about a text that is too long to search, and about everything if it cannot be compiled', () => {
    expect(rule('never in it')(bash('x'.repeat(65_536)))).toBe(false);
    expect(rule('never in it')(bash('x'.repeat(65_537)))).toBe(true);
    const damaged = { id: 'rule_1', scope: '', tool: 'other', when: '(', reason: '', givenMs: 0, givenBy: '' };
    expect(compileOrAsk(damaged)(bash('true'))).toBe(true);
    expect(() => rule('(')).toThrow();
  });

  it.each(['(a+)+$', '(a|aa)*b', '(a*)*c', '(.*a){20}b', '(?:a?){30}a{30}b'])(
    'issue 32.4 a pattern that makes other engines run for years ends: %s',
    (when) => {
      expect(rule(when)(bash(`${'a'.repeat(60_000)}!`))).toBe(false);
    },
    20_000,
  );
});
