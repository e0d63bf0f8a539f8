import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Commits } from './shape.ts';

/** The person's configuration before an agent works in the project. Parts of it run files of the project. */
export const PERSONS = [
  'nothing special',
  'a paused rebase',
  'a global core.hooksPath',
  'a local core.hooksPath',
  'a global include.path',
  'a local include.path',
  'scripts of the project',
] as const;
export type Person = (typeof PERSONS)[number];

/** Scripts of the project that the person's configuration may run. */
export const SCRIPTS = ['tools/clean.sh', 'tools/smudge.sh', 'tools/textconv.sh', 'tools/st.sh', 'tools/watch.sh'];

/** The environment of the person's git: no settings of the test's own user, no terminal, no network. */
export function personEnv(home: string): NodeJS.ProcessEnv {
  return {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: home,
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_EDITOR: 'true',
    GIT_SSH: sshOf(home),
    GIT_SSH_VARIANT: 'ssh',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@example.com',
    GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.com',
    GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
  };
}

/** A program in place of ssh that notes where it would have connected. */
function sshOf(home: string): string {
  return join(home, 'ssh.sh');
}

/** What that program noted, one line for each connection. */
export function sshConnections(home: string): string[] {
  return readFileSync(join(home, 'ssh.log'), 'utf8').split('\n').slice(0, -1);
}

const TEMPLATE = `
git init -q -b main .
git commit -q --allow-empty -m empty
git checkout -q -b side
echo side >side.txt
git add side.txt
git commit -q -m side
git checkout -q main
mkdir tools .githooks
for name in clean smudge textconv st watch; do printf '#!/bin/sh\\n[ "$1" ] && cat "$1" || cat\\n' >tools/$name.sh; done
printf '#!/bin/sh\\nexit 0\\n' >.githooks/pre-commit
chmod 755 tools/*.sh .githooks/pre-commit
printf '[user]\\n\\tname = a\\n' >team.gitconfig
printf '*.bin filter=team diff=team\\n' >.gitattributes
echo 1 >file.txt
echo 1 >data.bin
git add .
git commit -q -m files
signature='gpgsig -----BEGIN PGP SIGNATURE-----
 
 none
 -----END PGP SIGNATURE-----'
signed=$(git cat-file commit HEAD | awk -v text="$signature" '!done && /^$/ { print text; done = 1 } { print }' | git hash-object -t commit -w --stdin)
git reset -q --hard "$signed"
git rev-parse main main~1 side
`;

/** Makes the repository from which every project is copied. */
export function makeTemplate(dir: string, home: string): Commits {
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(home, 'ssh.log'), '');
  writeFileSync(sshOf(home), `#!/bin/sh\necho "$*" >>'${home}/ssh.log'\nexit 1\n`, { mode: 0o755 });
  const [head = '', empty = '', side = ''] = onHost(TEMPLATE, dir, home).trim().split('\n').slice(-3);
  return { head, empty, side };
}

/** Copies the template to `root` and writes the person's configuration, global in `home` and local. */
export function setUpPerson(person: Person, template: string, root: string, home: string, commits: Commits): void {
  cpSync(template, root, { recursive: true, verbatimSymlinks: true });
  rmSync(join(home, '.gitconfig'), { force: true });
  onHost(settingUp(person, root, commits), root, home);
}

function settingUp(person: Person, root: string, commits: Commits): string {
  switch (person) {
    case 'nothing special':
      return '';
    case 'a paused rebase':
      return pausedRebase(commits);
    case 'a global core.hooksPath':
      return 'git config --global core.hooksPath .githooks';
    case 'a local core.hooksPath':
      return 'git config core.hooksPath .githooks';
    case 'a global include.path':
      return `git config --global include.path '${root}/team.gitconfig'`;
    case 'a local include.path':
      return 'git config include.path ../team.gitconfig';
    case 'scripts of the project':
      return SCRIPTS_IN_CONFIG;
  }
}

function pausedRebase({ head }: Commits): string {
  return `git checkout -q --detach && mkdir .git/rebase-merge && cd .git/rebase-merge &&
echo refs/heads/main >head-name && echo ${head} >onto && echo ${head} >orig-head && : >interactive && echo noop >git-rebase-todo`;
}

const SCRIPTS_IN_CONFIG = `
git config filter.team.clean tools/clean.sh
git config filter.team.smudge ./tools/smudge.sh
git config diff.team.textconv tools/textconv.sh
git config alias.st '!tools/st.sh'
git config core.fsmonitor tools/watch.sh
`;

/** Runs a script of the person on the host. Throws if it fails. */
export function onHost(script: string, cwd: string, home: string): string {
  const done = spawnSync('bash', ['-ec', script], { cwd, env: personEnv(home), encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`the host's script ended with ${done.status}: ${done.stderr}\n${script}`);
  return done.stdout;
}
