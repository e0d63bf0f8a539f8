import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeText } from '#src/features/rules/judge.js';
import type { RuleList } from '#src/features/rules/rule.js';
import { propertyRuns } from '../../../helpers/property-runs.ts';

const RULES: RuleList = {
  client: 'claude',
  order: 'strictest',
  rules: ['rm *', 'git push *', 'npm publish *', 'curl *', 'sudo *', 'docker push *'].map((pattern) => ({
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

/** Ways in which a program runs a text that a word of it holds. */
const RUNS_TEXT: readonly ((text: string) => string)[] = [
  (text) => `sort --compress-program='${text}' big`,
  (text) => `sort -S 1M --compress-prog '${text}' big`,
  (text) => `sort -S 1b -o -- --compress-program='${text}' big`,
  (text) => `man -L -- -P '${text}' ls`,
  (text) => `man -P '${text}' ls`,
  (text) => `man -aP'${text}' ls`,
  (text) => `man --pager='${text}' ls`,
  (text) => `man -H'${text}' ls`,
  (text) => `rg --pre '${text}' word`,
  (text) => `rg --hostname-bin='${text}' --hyperlink-format x word`,
  (text) => `wget --use-askpass='${text}' https://example.com`,
  (text) => `zip -T -TT '${text}' a.zip b`,
  (text) => `zip a.zip b -T --unzip-command='${text}'`,
  (text) => `zip -q -T '-TT${text}' a.zip b`,
  (text) => `dpkg --pre-invoke='${text}' -i a.deb`,
  (text) => `rpm --pipe '${text}' -qa`,
  (text) => `apt-get -o APT::Update::Pre-Invoke::='${text}' update`,
  (text) => `apt -yoDpkg::Post-Invoke::='${text}' install jq`,
  (text) => `go test -exec '${text}' ./...`,
  (text) => `go run -exec='${text}' .`,
  (text) => `go build -toolexec '${text}' ./...`,
  (text) => `go vet -vettool='${text}' ./...`,
  (text) => `npm install --script-shell='${text}'`,
  (text) => `npm exe -c '${text}'`,
  (text) => `npm x --call '${text}'`,
  (text) => `gem open -e '${text}' rake`,
  (text) => `pip config edit --editor '${text}'`,
  (text) => `git -c core.pager='${text}' log`,
  (text) => `git -c core.sshCommand='${text}' fetch`,
  (text) => `git -c diff.external='${text}' diff`,
  (text) => `git -c filter.x.smudge='${text}' checkout .`,
  (text) => `git -c credential.helper='!${text}' fetch`,
  (text) => `git -c alias.x='!${text}' x`,
  (text) => `git clone --config core.fsmonitor='${text}' a b`,
  (text) => `git clone -c gpg.program='${text}' a b`,
  (text) => `git fetch --upload-pack='${text}' origin`,
  (text) => `git fetch --upload-p '${text}' origin`,
  (text) => `git fetch -o -- --upload-pack='${text}' origin`,
  (text) => `git clone -u '${text}' a b`,
  (text) => `git archive --remote=a --exec='${text}' HEAD`,
  (text) => `git grep -O'${text}' word`,
  (text) => `git grep --open-files-in-pager='${text}' word`,
  (text) => `git rebase -x '${text}' main`,
  (text) => `git clone 'ext::${text} %S a'`,
  (text) => `git -c url.ext::'${text}'.insteadOf=x: fetch x:a`,
  (text) => `git -c remote.a.url='ext::${text}' fetch a`,
  (text) => `GIT_SSH_COMMAND='${text}' git fetch`,
  (text) => `export GIT_EDITOR='${text}'`,
  (text) => `env GIT_PAGER='${text}' git log`,
  (text) => `MANPAGER='${text}' man ls`,
  (text) => `LESSOPEN='|${text} %s' less a`,
  (text) => `EDITOR='${text}' crontab -e`,
  (text) => `RSYNC_RSH='${text}' rsync a b`,
  (text) => `make CC='${text}'`,
  (text) => `rsync -e '${text}' a b:c`,
  (text) => `rsync --rsh='${text}' a b:c`,
  (text) => `rsync --rsync-path='${text}' a b:c`,
  (text) => `tar -xf a.tar --to-command='${text}'`,
  (text) => `tar -I '${text}' -xf a.tar`,
  (text) => `tar --use-compress-program='${text}' -xf a.tar`,
  (text) => `tar -cf a.tar --checkpoint-action=exec='${text}' b`,
  (text) => `scp -o ProxyCommand='${text}' a b:c`,
  (text) => `sftp -oProxyCommand='${text}' b`,
  (text) => `less '+!${text}' a`,
];

/** Ways in which a program runs the words behind it. */
const RUNS_WORDS: readonly string[] = [
  'conda run -n env',
  'mamba run --live-stream -n env',
  'nvm exec 20',
  'nvm run 20 --',
  'docker exec -it box',
  'podman run --rm img',
  'docker container create img',
  'kubectl exec pod --',
  'kubectl create job x --image img --',
  'npm exec --',
  'npm exe --',
  'pnpm dlx',
  'pnpm',
  'yarn exec',
  'npm explore x --',
  'brew bundle exec',
  'gem exec',
  'snap run x',
  'go run ./wrap',
  'git bisect run',
  'git submodule foreach',
  'gh codespace ssh --',
  'service nginx',
  'git merge-index -o',
];

describe('FR-4.1: a program that is quiet otherwise is asked about for the words that it may run', () => {
  it.each(RUNS_TEXT.map((run) => [run('git push'), run('git pull')]))('%s', (text, harmless) => {
    expect(isPassed(text)).toBe(false);
    expect(isPassed(harmless)).toBe(true);
  });

  it.each(RUNS_TEXT.filter((run) => !/!|ext::|checkpoint/.test(run(''))).map((run) => [run('rm'), run('ls')]))(
    'a name alone is a command too: %s',
    (text, harmless) => {
      expect(isPassed(text)).toBe(false);
      expect(isPassed(harmless)).toBe(true);
    },
  );

  it.each(RUNS_WORDS)('%s git push', (run) => {
    expect(isPassed(`${run} git push origin`)).toBe(false);
    expect(isPassed(`${run} git pull origin`)).toBe(true);
  });

  it.each([
    `git -c core.pager="sh -c 'r\\"\\"m f'" log`,
    `sort --compress-program="sh -c 'r\\"\\"m f'" big`,
    'git -c alias.x=push x',
    'git -c Alias.x=push x origin',
    "git --shallow-file '' push origin",
    'git fetch --upload-pack="$X" origin',
    'service ../../usr/bin/git push',
    'service ../../bin/rm f',
  ])('a text that hides its words is read: %s', (text) => {
    expect(isPassed(text)).toBe(false);
  });
});

/** What people write into messages, searches and names. */
const FREE = [
  'git push',
  'do not git push',
  'rm',
  'rm f',
  'fix: rm -rf of the cache',
  'npm publish',
  'curl',
  "it's done",
  '$X',
];
const SUBJECTS = ['main', 'HEAD~2', 'src/a.ts', '.', './...', '"$DIR"', 'origin', '*.ts', 'x'];
/** Ordinary commands: `M` is a free text in quotes, `S` a subject. */
const ORDINARY = [
  ...[
    'git status',
    'git log --oneline -n 5',
    'git log --grep M -- S',
    'git log -S M',
    'git diff --stat S',
    'git add -A S',
  ],
  ...['git commit -m M', 'git commit -am M', 'git commit --amend -c HEAD', 'git -c user.name=M commit -m M'],
  ...[
    'git -c core.quotepath=false status',
    'git -c commit.gpgsign=false commit -m M',
    'git switch -c S',
    'git checkout -b S',
  ],
  ...[
    'git fetch --prune S',
    'git pull --rebase',
    'git grep -n M S',
    'git stash push -m M',
    'git tag -a v1 -m M',
    'git show S',
  ],
  ...[
    'git clean -xfd',
    'git cherry-pick -x S',
    'git remote add S https://example.com/a.git',
    'git -C S log -1',
    'git blame S',
  ],
  ...[
    'git -c http.proxy="$P" fetch S',
    'git clone -c core.autocrlf=false https://example.com/a.git S',
    'git push-like || true',
  ],
  ...['go test ./... -run M -count=1', 'go build -o S ./...', 'go vet ./...', 'go mod tidy', 'go list -m all'],
  ...[
    'sort -u -k2 S',
    'sort -t, -S 1M --parallel=2 S',
    'man git',
    'rg -n M S',
    'rg --pretty M',
    'grep -rn M S',
    'wget -q -O S https://example.com',
  ],
  ...[
    'wget -e robots=off https://example.com/S',
    'zip -r S.zip S',
    'unzip -o S',
    'jq .x S',
    'find . -name M',
    'find S -type f -newer S',
  ],
  ...[
    'apt-get install -y jq',
    'apt-get -o Acquire::Retries=3 update',
    'apt-get -o Dpkg::Use-Pty=0 -y upgrade',
    'dpkg -l',
    'rpm -qa',
    "rpm -E '%fedora'",
  ],
  ...[
    'pip install -e .',
    'pip3 install -r S',
    'conda install -y S',
    'conda create -n S python=3.12',
    'nvm use 20',
    'nvm install --lts',
  ],
  ...[
    'npm test',
    'npm ci',
    'npm install --save-dev S',
    'npm view S version',
    'npm test -- -t M',
    'pnpm install --filter S',
    'yarn add S',
  ],
  ...[
    'docker build -t S .',
    'docker ps --filter name=M',
    'docker logs -f S',
    'docker rm S',
    'kubectl get pods -l app=S',
    'kubectl apply -f S',
  ],
  ...[
    'gh pr create --title M --body M',
    'gh issue close 5 -c M',
    'gh pr view S --json title',
    'gh api repos/S',
    'gcloud auth list',
    'aws s3 ls S',
  ],
  ...['tar -xzf S', 'tar -czf S.tgz S', 'rsync -az --delete S S', 'make -j4 S', 'cargo test S', 'python3 S', 'node S'],
  ...[
    'echo M',
    'printf "%s\\n" M',
    'cat S | head -5',
    'EDITOR=vim git commit -m M',
    'GIT_PAGER=cat git log',
    'CC=clang make',
    'CC="$CC" make S',
  ],
  ...[
    'NODE_ENV=test npm test',
    'GIT_SSH_COMMAND="ssh-keygen -i $KEY" git fetch',
    'LESSOPEN="|lesspipe %s" less S',
    'PAGER= git diff',
  ],
];
const AROUND = [
  'C',
  'cd lib && C',
  'C 2>&1 | tail -20',
  'C > log 2>&1',
  'C || true',
  'if C; then echo ok; fi',
  'x=$(C | wc -l)',
  '(C)',
  'time C',
];

describe('FR-4.1: an ordinary command is not asked about', () => {
  const quoted = fc.constantFrom(...FREE).map((text) => (text === '$X' ? '"$X"' : `"${text}"`));
  const command = fc
    .tuple(fc.constantFrom(...ORDINARY), fc.array(quoted, { minLength: 2, maxLength: 2 }), fc.constantFrom(...SUBJECTS))
    .map(([text, messages, subject]) => {
      let used = 0;
      return text.replaceAll(/\bM\b/g, () => messages[used++ % 2] ?? '').replaceAll(/\bS\b/g, subject);
    });
  const whole = fc
    .tuple(fc.constantFrom(...AROUND), command)
    .map(([around, inner]) => around.replaceAll(/\bC\b/g, () => inner));

  it('whatever its messages, searches and names say', () => {
    fc.assert(
      fc.property(whole, (text) => {
        expect(isPassed(text), text).toBe(true);
      }),
      { numRuns: propertyRuns('function', 10) },
    );
  });
});
