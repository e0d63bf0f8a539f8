import { describe, expect, it } from 'vitest';
import { readShellWords } from '#src/proxy/shell/bash-arguments.js';

describe('issue 35 part 1: what a client gives its shell', () => {
  it.each([
    [['-c', 'ls'], { kind: 'text', text: 'ls' }],
    [['-lc', 'ls'], { kind: 'text', text: 'ls' }],
    [['-c', '-l', 'ls'], { kind: 'text', text: 'ls' }],
    [['-l', '-i', '-c', 'ls'], { kind: 'text', text: 'ls' }],
    [['--login', '-c', 'x -- y'], { kind: 'text', text: 'x -- y' }],
    [['-c', '--', '-x'], { kind: 'text', text: '-x' }],
    [['-s'], { kind: 'stdin' }],
    [['-'], { kind: 'stdin' }],
    [[], { kind: 'interactive' }],
    [['-i'], { kind: 'interactive' }],
    [['-l'], { kind: 'interactive' }],
    [['--version'], { kind: 'version' }],
  ] as const)('%j is read', (words, request) => {
    expect(readShellWords(words)).toEqual(request);
  });

  it.each([
    [['-c']],
    [['-ec', 'ls']],
    [['-o', 'pipefail', '-c', 'ls']],
    [['-c', 'echo $0', 'name', 'argument']],
    [['script.sh', 'argument']],
    [['--rcfile', 'x', '-i']],
    [['--version', 'x']],
  ] as const)('%j runs in the sandbox as it stands', (words) => {
    expect(readShellWords(words)).toEqual({ kind: 'as-it-stands', words });
  });
});
