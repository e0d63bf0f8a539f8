import { describe, expect, it } from 'vitest';
import { readLeftBehind } from '#src/proxy/shell/left-behind.js';

/** The parts as texts, with `&` behind what is left running and what is repeated before it in brackets. */
function partsOf(text: string): string[] | null {
  const { parts } = readLeftBehind(text);
  return (
    parts?.map(({ text: part, isLeft, kept: { setup, isElsewhere } }) => {
      const kept = [...setup, ...(isElsewhere ? ['cd …'] : [])].join('; ');
      return `${kept === '' ? '' : `[${kept}] `}${part}${isLeft ? ' &' : ''}`;
    }) ?? null
  );
}

describe('FR-4.1: a command that a shell leaves running', () => {
  it.each([
    ['nohup node server.js > s.log 2>&1 &', ['node server.js > s.log 2>&1 &']],
    ['cd app && npm run dev &', ['cd app && npm run dev &']],
    ['PORT=1 node s.js | tee log &', ['PORT=1 node s.js | tee log &']],
    [`setsid python3 -c "print('a & b')" &> log & disown`, [`python3 -c "print('a & b')" &> log &`]],
    ['node s.js &\nsleep 1\ncurl -s localhost', ['node s.js &', 'sleep 1\ncurl -s localhost']],
    ['npm run build; node s.js &', ['npm run build;', 'node s.js &']],
    ['cd app\nnode s.js &', ['cd app', '[cd app] node s.js &']],
    ['a; b & c & d', ['a;', 'b &', 'c &', 'd']],
    ['(node s.js > log 2>&1 &)\ncurl -s localhost', ['node s.js > log 2>&1 &', 'curl -s localhost']],
    ['(cd app && node s.js) & sleep 1', ['(cd app && node s.js) &', 'sleep 1']],
    ['{ a; b; } > log 2>&1 &', ['{ a; b; } > log 2>&1 &']],
    ['while true; do a; sleep 1; done & b', ['while true; do a; sleep 1; done &', 'b']],
    [
      'export PORT=3 HOST="a b"\nnode s.js &\ncurl x',
      ['export PORT=3 HOST="a b"', '[export PORT=3 HOST="a b"] node s.js &', '[export PORT=3 HOST="a b"] curl x'],
    ],
    ['mkdir -p app && cd app; node s.js & ls', ['mkdir -p app && cd app;', '[cd …] node s.js &', '[cd …] ls']],
    ['mkdir a && cd a; cd b; A=1; node s.js &', ['mkdir a && cd a; cd b; A=1;', '[A=1; cd …] node s.js &']],
    ['cat > a <<EOF\nx & y\nEOF\nnode a &\nsleep 1', ['cat > a <<EOF\nx & y\nEOF', 'node a &', 'sleep 1']],
    ['echo a # b & c\nd &', ['echo a # b & c', 'd &']],
    ['node s.js & echo $! > pid; echo started', ['node s.js &', 'echo $! > pid; echo started']],
    ['make > log 2>&1; ./s & cat log', ['make > log 2>&1;', './s &', 'cat log']],
    ['a & for i in 1 2; do curl x && break; done', ['a &', 'for i in 1 2; do curl x && break; done']],
    ['setsid -w touch a & b', ['setsid -w touch a &', 'b']],
    ['nohup -- touch a & b', ['nohup -- touch a &', 'b']],
  ])('is read from %j', (text, parts) => {
    expect(partsOf(text)).toEqual(parts);
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
    'cat <<EOF\na & b\nEOF',
    'echo "',
  ])('is not read from %j, in which no & leaves anything', (text) => {
    expect(readLeftBehind(text)).toEqual({ parts: null, isLost: false });
  });

  it.each([
    '(sleep 0.3; touch flag) & until [ -e flag ]; do sleep 0.1; done; echo came',
    '(for i in 1 2; do echo $i; sleep 0.1; done) > app.log & tail -f app.log | sed "/2/q"',
  ])('stays one command in %j, beside which the group ends by itself', (text) => {
    expect(readLeftBehind(text)).toEqual({ parts: null, isLost: false });
  });

  it.each(['a & wait', 'a & b=$!; kill $b', 'for i in 1 2; do a & done; wait'])(
    'stays one command in %j, which waits for it or ends it',
    (text) => {
      expect(readLeftBehind(text)).toEqual({ parts: null, isLost: false });
    },
  );

  it.each([
    'a & trap x EXIT',
    'for i in 1; do a & done',
    'if a; then b & fi',
    '{ a & b; }; c',
    'V=$(cat port)\nnode s.js $V &',
    'export V=$(cat port); node s.js &',
    'eval "$(a)"; node s.js &',
    'export PORT=3; . ./env; node s.js &',
    'cd app && . venv/bin/activate; python s.py &',
    'set -e\nnpm ci\nnode s.js &',
    'set -o errexit; test -d nope; a & b',
    'set -e; [ -f bad ] && echo bad; a & b',
    'cd app || exit 1\nnode s.js &',
    '[ -f bad ] && exit 1; a & b',
    `: \${DIR:?must be set}; a & b`,
    `: "\${PORT:=3000}"; a & b $PORT`,
    '> log; echo started >>log & sleep 1; cat log',
    'D=d.$RANDOM; mkdir $D; a & ls $D',
    'up() { export PORT=3000; }; up; a & b $PORT',
    'x=1 > f; a & b',
    'export A=1 2> err; a & b',
    'cd sub > log; a & b',
    'export A=($(b)); a & c',
    'A=(*.txt); a & b',
    'printf -v A x; a & b $A',
    'echo $((y=5)); a & b $y',
    'V=$(date)\nnode s.js &',
    '[[ a =~ a ]]; a & echo $BASH_REMATCH',
    'if a; then x=1; fi; b & c',
    '{ x=1; }; b & c',
    '! cd x; a & b',
    'read x < f; node s.js &',
    'mkdir a && cd a; . ./env; node s.js &',
    'exit; a &',
    'exec a; b &',
    'npm ci && export A=1; node s.js &',
    'cat <<EOF &\nx\nEOF',
    'a <<EOF; b &\nx\nEOF',
    'echo "$(a & b)"',
  ])('ends with the command in %j, which is said', (text) => {
    expect(readLeftBehind(text)).toEqual({ parts: null, isLost: true });
  });
});
