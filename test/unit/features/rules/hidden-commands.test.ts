import { describe, expect, it } from 'vitest';
import { judgeText } from '#src/features/rules/judge.js';
import type { RuleList } from '#src/features/rules/rule.js';

const RULES: RuleList = {
  client: 'claude',
  order: 'strictest',
  rules: ['rm *', 'git push *'].map((pattern) => ({
    action: 'deny',
    rule: `Bash(${pattern})`,
    pattern,
    file: '/home/ann/rules.json',
    isOfPerson: true,
  })),
};

function isPassed(text: string): boolean {
  const { denied, unseen } = judgeText({ text, input: { kind: 'nothing' }, isSeen: false }, [RULES]);
  return denied === null && unseen === null;
}

describe('FR-4.1: a rule covers a command in an array that a builtin is given', () => {
  it.each([
    'declare -a A=( $(rm f) )',
    'local -a a=( $(rm f) )',
    'export A=( "$(rm f)" )',
    'readonly -a Q=(<(rm f))',
    'typeset Q=( >(rm f) )',
    'declare A+=(`rm f`)',
    'declare -A A=([x]=$(rm f))',
    'declare -A A=([$(rm f)]=x)',
    'declare A=(a b) B=( "c`rm f`" )',
    "declare A=('a\nb' $(rm f\n) )",
    'f() { local a=( x $(declare -a b=( $(rm f) )) ); }; f',
  ])('%s', (text) => {
    expect(isPassed(text)).toBe(false);
  });

  it.each([
    "declare -a A=( '$(ls)' )",
    'declare -a A=( $(ls) "$(git status)" )',
    "cat <<'E'\n$(rm f)\nE",
    '[[ $x =~ ^(a|b)$ ]]',
  ])('and asks nothing about %s', (text) => {
    expect(isPassed(text)).toBe(true);
  });
});

describe('FR-4.1: text that echo or printf makes of a backslash or a format is unread for a shell', () => {
  it.each([
    "echo -e 'rm\\tf' | bash",
    "echo -n -e 'r\\155 f' | bash",
    "echo 'rm\\tf' | sh",
    "printf 'r\\155 f' | bash",
    "printf '%s f' rm | bash",
    'eval "$(echo -e \'rm\\tf\')"',
    "bash <<<$(echo -e 'rm\\tf')",
    'bash -c "$(printf \'rm\\tf\')"',
    "printf '%b' 'rm\\tf' | sh",
    "echo -e 'r\\x6d f' | xargs env",
  ])('%s', (text) => {
    expect(isPassed(text)).toBe(false);
  });

  it.each([
    "echo -e 'a\\tb' | sort",
    "printf 'ls\\n100%%\\n' | sh",
    'git commit -m "$(echo -e \'a\\n\\nb\')"',
    "echo 'grep a\\.b f' | sh",
    "printf '%s\\n' a b | xargs ls",
    "echo -e '\\e[31mred' >&2",
  ])('and asks nothing about %s', (text) => {
    expect(isPassed(text)).toBe(true);
  });
});

describe('FR-4.1: a program that is given a whole command in an option runs it', () => {
  it.each([
    'jobs -x rm f',
    'jobs -x git push',
    'trap -- \'r""m f\' EXIT',
    'env -S"bash -c \'r\\"\\"m f\'"',
    'env -iS\'r""m f\'',
    'script -qec\'r""m f\'',
    'script -qec \'r""m f\' log',
    'script --command=\'r""m f\'',
    'script --comm \'r""m f\'',
    'su - bob --session-command=\'r""m f\'',
    'runuser -lc \'r""m f\' bob',
    'flock lock --command \'r""m f\'',
    'split --filter=\'r""m f\' list',
    'split -l 1 --filt \'r""m f\' list',
    './wrap --run=\'r""m f\'',
    "./wrap -x'r\\m f'",
    'tar -cf a.tar --checkpoint-action=exec=\'r""m f\' b',
  ])('%s', (text) => {
    expect(isPassed(text)).toBe(false);
  });

  it.each([
    'jobs -l',
    'trap - EXIT',
    'trap -p EXIT',
    "trap -- 'git status' EXIT",
    "script -qec 'npm test' log",
    'split -l 10 list part',
    "split --filter='gzip > $FILE.gz' list",
    "tar -czf rm.tar --exclude='r*m' b",
    "env -S'node --test' lib",
  ])('and asks nothing about %s', (text) => {
    expect(isPassed(text)).toBe(true);
  });
});

describe('FR-4.1: a name or a variable that the shell fills in is not a known word', () => {
  it.each([
    'git pus?',
    'git pus*',
    'git [p]ush',
    'timeout 5 git pus?',
    'cd a && env git *',
    'echo pus? | xargs git',
    'bash <<<$(echo *)',
    '$(which bash) <<<"r\'\'m f"',
    'echo "r\'\'m f" | $(which bash)',
    '$(command -v bash) -c "r\'\'m f"',
    '$(type -P git) push',
    '`which sh` -c "r\'\'m f"',
    "$(readlink x) <<< 'rm f'",
    `: \${BASH_ENV:=x}; bash -c true`,
    `: "\${BASH_ENV=x}"`,
    'printf -v BASH_ENV x',
    'printf -vBASH_ENV %s x',
    'read BASH_ENV',
    'read -r a BASH_ENV <<< "b x"',
    'for BASH_ENV in x; do bash -c true; done',
    'select BASH_ENV in x; do bash -c true; done',
    'mapfile -t BASH_ENV',
    `: \${ENV:=./x}`,
    'printf -v ENV ./x',
    'for ENV in ./x; do sh -i; done',
    'declare -n n=BASH_ENV; n=x',
    'read PS4',
  ])('%s', (text) => {
    expect(isPassed(text)).toBe(false);
  });

  it.each([
    'git add *.ts src/?.js',
    'ls *',
    'git diff -- *.md',
    'for ENV in dev prod; do npm run "build:$ENV"; done',
    'read -r ENV',
    `echo "$BASH_ENV" "\${ENV:-dev}"`,
    '$(npm bin)/x run',
    '[ a = b ] && [[ $x == *.ts ]]',
    'printf -v line %s x',
    'git status "a?" \'*\'',
  ])('and asks nothing about %s', (text) => {
    expect(isPassed(text)).toBe(true);
  });
});

describe('FR-4.1: the text of a shell behind a program that is not known is read', () => {
  it.each([
    'ssh-agent bash -c \'r""m f\'',
    'setpriv sh -c \'r""m f\'',
    'prlimit sh -c \'r""m f\'',
    'linux64 bash -c \'r""m f\'',
    'choom -n 0 -- bash -c \'r""m f\'',
    './wrap --as bob /bin/bash -euc \'r""m f\'',
    'sudo -x y dash -c \'r""m f\'',
    'setpriv env sh -c \'r""m f\'',
    'parallel git ::: push',
    'parallel -j 4 git ::: push pull',
    "parallel 'git {}' ::: push",
    'parallel ::: \'r""m f\'',
    'parallel \'r""m {}\' ::: f',
  ])('%s', (text) => {
    expect(isPassed(text)).toBe(false);
  });

  it.each([
    "ssh-agent bash -c 'git status'",
    "setpriv sh -c 'ls; npm test'",
    'parallel gzip ::: a b',
    'parallel -j 4 git add ::: a b',
    "parallel 'convert {} {.}.png' ::: *.jpg",
    './wrap bash run.sh',
    'echo bash -c \'r""m f\'',
    'docker run -it img bash',
  ])('and asks nothing about %s', (text) => {
    expect(isPassed(text)).toBe(true);
  });
});

/** Places in which bash takes single quotes for characters. */
const UNQUOTED: readonly ((inner: string) => string)[] = [
  (inner) => `echo "\${x:-'${inner}'}"`,
  (inner) => `y="\${x:-'${inner}'}"`,
  (inner) => `echo "\${x:-$'${inner}'}"`,
  (inner) => `echo "\${x='${inner}'}"`,
  (inner) => `echo "\${x:?'${inner}'}"`,
  (inner) => `echo "\${x:+'${inner}'}"`,
  (inner) => `case "\${x:-'${inner}'}" in a) ;; esac`,
  (inner) => `echo "\${x:-\${y:-'${inner}'}}"`,
  (inner) => `echo "\${x:-'\${y:-'${inner}'}'}"`,
  (inner) => `cat <<E\n\${x:-'${inner}'}\nE`,
  (inner) => `echo "\${x:-a'b${inner}c'd}"`,
  (inner) => `echo \${x:-"\${y:-'${inner}'}"}`,
  (inner) => `select i in "\${x:-'${inner}'}"; do :; done`,
  (inner) => `echo $(( '${inner}' ))`,
  (inner) => `(( '${inner}' ))`,
  (inner) => `for (( i='${inner}'; i < 1; i++ )); do :; done`,
  (inner) => `for (( i=0; i < '${inner}'; i++ )); do :; done`,
  (inner) => `a['${inner}']=1`,
  (inner) => `a=(['${inner}']=1)`,
  (inner) => `declare -a a=(['${inner}']=1)`,
  (inner) => `echo \${a['${inner}']}`,
  (inner) => `echo $['${inner}']`,
  (inner) => `echo \${x:'${inner}'}`,
  (inner) => `echo \${x:0:'${inner}'}`,
];

describe('FR-4.1: quotes in an expansion, a subscript or arithmetic hide no command', () => {
  it.each(UNQUOTED.map((around) => [around('$(git push)'), around('`git push`'), around('$(git pull)')]))(
    '%s',
    (text, withBackquotes, harmless) => {
      expect(isPassed(text)).toBe(false);
      expect(isPassed(withBackquotes)).toBe(false);
      expect(isPassed(harmless)).toBe(true);
    },
  );

  it.each([
    `echo "\${x:-'$(git push;'':)'}"`,
    "a[$'\\x24(git push)']=1",
    `sh -c 'echo "\${x:-'\\''}"; git push; echo "'\\''}"'`,
    `dash <<'E'\necho "\${x:-'}"; git push; echo "'}"\nE`,
    `set -o posix; echo "\${x:-'}"; git push; echo "'}"`,
    `POSIXLY_CORRECT=1; echo "\${x:-'}"; git push; echo "'}"`,
  ])('%s', (text) => {
    expect(isPassed(text)).toBe(false);
  });

  it.each([
    `echo "\${x:-it's}" "\${y:-'a b'}" "\${1:-'{}'}"`,
    `echo "\${x#'$(rm f)'}" "\${x//'$(rm f)'/a}"`,
    `echo "\${x:-'$(date)'}" "\${x:-"$(git log -1)"}"`,
    `sh -c 'echo "\${x:-a}" \${y:-"b c"}'`,
    `(( i['a'] = 1 )); a['$x']=1; echo \${a['b c']}`,
  ])('and asks nothing about %s', (text) => {
    expect(isPassed(text)).toBe(true);
  });
});

describe('FR-4.1: a value that bash or a program evaluates later is read without its quotes', () => {
  it.each([
    "x='a[$(gi\\t push)]'; echo $((x))",
    "[ -v 'a[$(gi\\t push)]' ]",
    "for i in 'a[$(git push)]'; do ((i)); done",
    `for i in '$(gi\\t push)'; do : "\${i@P}"; done`,
    `select i in a '\`gi""t push\`'; do ((i)); done`,
    `x='$(gi\\t push)'; echo "\${x@P}"`,
    "[[ -v 'a[$(gi\\t push)]' ]]",
    `[[ 'a[$(gi""t push)]' -eq 0 ]]`,
    "printf -v 'a[$(gi\\t push)]' x",
    "read 'a[$(gi\\t push)]'",
    "unset 'a[$(gi\\t push)]'",
    `a=('$(gi""t push)'); : "\${a@P}"`,
    "TAR_OPTIONS='--checkpoint=1 --checkpoint-action=exec=rm\\ victim' tar cf x.tar f",
    `GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0='!gi""t push' git x`,
    'GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0=push git x',
    'GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.pager GIT_CONFIG_VALUE_0=rm git log',
    'export GIT_CONFIG_VALUE_0=push',
    "MAKEFLAGS='--eval=x:;gi\\t\\ push' make x",
    `V='!gi""t push' git --config-env alias.x=V x`,
  ])('%s', (text) => {
    expect(isPassed(text)).toBe(false);
  });

  it.each([
    `for i in 'rm f' "git push" $(git log --grep 'git push'); do echo "$i"; done`,
    "[[ -v 'a[1]' && $x == 'git push' && -n $(git log --grep 'git push') ]]",
    "unset 'a[$i]'; x='a[1]'; echo $((x))",
    "TAR_OPTIONS='--exclude=node_modules --totals' tar cf x.tar f",
    "MAKEFLAGS='-j4 --no-print-directory' make",
    'GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0="$PWD" git status',
    "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0='Ann Lee' git commit -m x",
  ])('and asks nothing about %s', (text) => {
    expect(isPassed(text)).toBe(true);
  });
});
