import { describe, expect, it } from 'vitest';
import { parseArguments } from '#src/proxy/arguments.js';

describe('the command line of a tool', () => {
  it.each([
    [[], { kind: 'call', input: { from: 'stdin' } }],
    [['-'], { kind: 'call', input: { from: 'stdin' } }],
    [['{"a":1}'], { kind: 'call', input: { from: 'argument', text: '{"a":1}' } }],
    [['@in.json'], { kind: 'call', input: { from: 'file', path: 'in.json' } }],
    [['--help'], { kind: 'print', file: 'TOOL.md' }],
    [['--help', '--extended'], { kind: 'print', file: 'TOOL_EXTENDED.md' }],
    [['--extended', '--help'], { kind: 'print', file: 'TOOL_EXTENDED.md' }],
    [['--schema'], { kind: 'print', file: 'schema.json' }],
  ])('%j', (args, request) => {
    expect(parseArguments(args, 'safe_bash')).toEqual(request);
  });

  it.each([[['--helm']], [['-h']], [['--help=1']], [['--']], [['{}', '-']], [['{}', '{}']]])('refuses %j', (args) => {
    expect(() => parseArguments(args, 'safe_bash')).toThrow(expect.objectContaining({ code: 'ARGS_INVALID' }));
  });
});
