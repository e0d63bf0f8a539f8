import { describe, expect, it } from 'vitest';
import { readLeftBehind } from '#src/proxy/shell/left-behind.js';

describe('FR-4.1: a command that a shell leaves running', () => {
  it.each([
    ['nohup node server.js > s.log 2>&1 &', 'node server.js > s.log 2>&1', ''],
    ['cd app && npm run dev &', 'cd app && npm run dev', ''],
    ['PORT=1 node s.js | tee log &', 'PORT=1 node s.js | tee log', ''],
    [`setsid python3 -c "print('a & b')" &> log & disown`, `python3 -c "print('a & b')" &> log`, ''],
    ['node s.js &\nsleep 1\ncurl -s localhost', 'node s.js', 'sleep 1\ncurl -s localhost'],
    ['node s.js & echo $! > pid; echo started', 'node s.js', 'echo $! > pid; echo started'],
  ])('is read from %j', (text, command, rest) => {
    expect(readLeftBehind(text)).toEqual({ command, rest });
  });

  it.each([
    'a && b',
    'a 2>&1 | b',
    'a &> f',
    'echo "a & b"',
    "echo 'a & b'",
    'echo a \\& b',
    'echo a # b & c',
    'curl "http://localhost/?a=1&b=2"',
    'cat <<EOF &\nx\nEOF',
    'diff <(a) <(b) & c',
    'echo "$(a & b)"',
  ])('is not read from %j, in which no & ends a list', (text) => {
    expect(readLeftBehind(text)).toBeNull();
  });

  it.each([
    'a & wait',
    'a & b=$!; kill $b',
    'a & trap x EXIT',
    '(a) & b',
    '{ a; } & b',
    'a; b & c',
    'for i in 1; do a & done',
    'if a; then b & fi',
    '! a & b',
  ])('stays one command in %j, whose rest needs it or whose list may be a part of more', (text) => {
    expect(readLeftBehind(text)).toBeNull();
  });
});
