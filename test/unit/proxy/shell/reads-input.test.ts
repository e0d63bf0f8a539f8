import { describe, expect, it } from 'vitest';
import { mayReadInput } from '#src/proxy/shell/reads-input.js';

describe('FR-4.1: the standard input of a command in a client shell', () => {
  it.each([
    'true',
    'echo "$x" && ls -la lib; pwd',
    'cd lib && git status --short',
    'echo "$(date)" > out',
    'cat lib/a.txt | sort | head -1',
    'head -n 5 lib/a.txt',
    'grep -n beta lib/a.txt',
    'rm -rf lib/old && mkdir -p lib',
    'while read -r line; do cat; done < list',
    'python3 - <<EOF\nprint(1)\nEOF',
    'cat <<< word',
    'cat & echo started',
    'f() { echo a; }; [ -e lib ] && touch b',
    'sort < list; /bin/ls',
<<<<<<< HEAD
    'ls $DIR; cd -; echo - ; [ a = - ]',
    'ls a-b --color=auto',
=======
    "declare -a A=( $(ls) '$(cat)' )",
>>>>>>> from-rl
  ])('is left alone by %j', (text) => {
    expect(mayReadInput(text)).toBe(false);
  });

  it.each([
    'cat',
    'cat -',
    'cat -n',
    'cat $FILES',
    'cat *.txt',
    'read x; echo $x',
    'while read x; do echo $x; done',
    'python3 -',
    'node server.js',
    'head -n 5',
    'grep beta',
    'sed s/a/b/',
    'sort',
    'echo "$(cat)"',
    'x=`cat`',
    'echo <(cat)',
    'true && { ls; cat; }',
    'if ls; then cat; fi',
    'ls() { cat; }; ls',
    './ls',
    '$RUN',
    'rm -i a',
    'git commit -F -',
    'git add -p',
    'git hash-object --stdin',
    'wc --files0-from=-',
    'grep -f - a b',
    'date -f -',
    'du --files0-from=-',
    'sed -f - a b',
    'git tag -aF- v1',
    'git add --pathspec-from-file=-',
    'which -i ls',
    'hostname -F -',
    'cat /dev//stdin',
    'cd /dev; cat stdin',
    'jobs -x cat',
    'cat /dev/stdin',
    'exec 3<&0; true',
    'bash -c cat',
    'echo $((1 + $(cat)))',
    'cat 3< file',
    'select x in a b; do true; done',
    'cat <<EOF\n$(cat)\nEOF',
    'true "',
    'declare -a A=( $(cat) )',
    'export A=( "`cat`" )',
    'declare -A A=([x]=<(cat))',
  ])('is given to %j, which may read it', (text) => {
    expect(mayReadInput(text)).toBe(true);
  });
});
