import { afterAll, describe, expect } from 'vitest';
import { expectRan, removeMachine, task } from './machine.ts';

afterAll(removeMachine);

/** An answer to something that lies outside the project. */
const NOT_ALLOWED_PATH = expect.objectContaining({ how_to_allow: expect.stringContaining('ctxd allow path') });

describe('git', () => {
  task('shows status, log and diff', 'express', async (at) => {
    at.write('index.js', `${at.read('index.js')}// more\n`);
    expectRan(await at.bash('git status --short && git log --oneline && git diff --stat'), {
      stdout: / M index\.js[\s\S]*The released state[\s\S]*1 file changed/,
    });
  });

  task('commits with the person’s identity', 'express', async (at) => {
    expectRan(await at.bash('echo one >one && git add one && git commit -q -m "Add one"'), {});
    const { stdout } = await at.shell('git log -1 --format="%an <%ae> %s"');
    expect(stdout).toBe('Ann Example <ann@example.com> Add one\n');
  });

  task('stashes and takes back', 'express', async (at) => {
    at.write('index.js', '// changed\n');
    expectRan(await at.bash('git stash -q && git diff --quiet && git stash pop -q && ! git diff --quiet'), {});
  });

  task('rebases a branch', 'express', async (at) => {
    const script = `git switch -q -c side && echo s >s && git add s && git commit -q -m side &&
      git switch -q main && echo m >m && git add m && git commit -q -m main &&
      git rebase -q main side && git log --format=%s -3`;
    expectRan(await at.bash(script), { stdout: 'side\nmain\nThe released state\n' });
  });

  task('picks a commit', 'express', async (at) => {
    const script = `git switch -q -c side && echo s >s && git add s && git commit -q -m side &&
      git switch -q main && git cherry-pick side && git log --format=%s -1`;
    expectRan(await at.bash(script), { stdout: /side\n$/ });
  });

  task('merges, with a conflict that is resolved', 'express', async (at) => {
    const script = `git switch -q -c side && echo side >f && git add f && git commit -q -m side &&
      git switch -q main && echo main >f && git add f && git commit -q -m main
      git merge side; git diff --name-only --diff-filter=U
      echo both >f && git add f && git commit -q --no-edit && git log --format=%s -1`;
    expectRan(await at.bash(script), { stdout: /CONFLICT[\s\S]*\nf\nMerge branch 'side'\n$/ });
  });

  task('makes an annotated tag', 'express', async (at) => {
    expectRan(await at.bash('git tag -a v1 -m "First" && git describe'), { stdout: 'v1\n' });
  });

  task('deletes a branch that has settings', 'express', async (at) => {
    await at.shell(
      'git branch side && git config branch.side.remote origin && git config branch.side.merge refs/heads/side',
    );
    expectRan(await at.bash('git branch -D side && git branch --list side'), { stdout: /^Deleted branch side.*\n$/ });
    expect((await at.shell('git branch --list side')).stdout).toBe('');
  });

  task('adds a remote, which stays', 'express', async (at) => {
    expectRan(await at.bash('git remote add origin https://example.com/shop.git && git remote -v'), {
      stdout: /https:\/\/example\.com\/shop\.git/,
    });
    expect((await at.shell('git remote get-url origin')).stdout).toBe('https://example.com/shop.git\n');
  });

  task('sets user.name for the repository', 'express', async (at) => {
    const script = 'git config user.name "Bob Example" && git commit -q --allow-empty -m b && git log -1 --format=%an';
    expectRan(await at.bash(script), { stdout: 'Bob Example\n' });
  });

  task('pushes with -u to a bare repository of the project', 'express', async (at) => {
    const script = `git init -q --bare backup.git && git remote add backup ./backup.git &&
      git push -q -u backup main && git status -sb | head -1`;
    expectRan(await at.bash(script), { stdout: /main\.\.\.backup\/main/ });
  });

  task('adds a submodule', 'express', async (at) => {
    const script = `git clone -q . /tmp/part && git -c protocol.file.allow=always submodule add -q /tmp/part part &&
      git commit -q -m "Add part" && git submodule status`;
    expectRan(await at.bash(script), { stdout: / part / });
  });

  task('adds and removes a worktree inside the project', 'express', async (at) => {
    expectRan(await at.bash('git worktree add -q wt -b wt && ls wt/index.js'), {});
    expectRan(await at.bash('git worktree remove wt && git worktree list | wc -l'), { stdout: '1\n' });
  });

  task('clones a repository and removes the clone in a later call', 'express', async (at) => {
    expectRan(await at.bash('git clone -q . copy && git -C copy log --oneline'), {});
    expectRan(await at.bash('rm -rf copy && test ! -e copy'), {});
  });

  task('says at once that a worktree beside the project is not allowed, and how to allow it', 'express', async (at) => {
    const answer = await at.bash('git worktree add ../wt');
    expect(answer.code).not.toBe(0);
    expect(answer.denied).toContainEqual(NOT_ALLOWED_PATH);
  });

  task('says at once that a file beside the project is not written', 'express', async (at) => {
    const answer = await at.bash('echo hi >../out.txt');
    expect(answer.code).not.toBe(0);
    expect(answer.denied).toContainEqual(NOT_ALLOWED_PATH);
  });

  task(
    'commits in a package of a monorepo',
    'monorepo',
    async (at) => {
      const script = `echo x >>src/m1.js && git status --short . && git add -A . &&
        git commit -q -m "Change p7" && git log -1 --format=%s`;
      expectRan(await at.bash(script), { stdout: /^ M src\/m1\.js\n[\s\S]*Change p7\n$/ });
      expect((await at.shell('git log -1 --format=%s')).stdout).toBe('Change p7\n');
    },
    'packages/p7',
  );

  task('searches a monorepo of 102,000 files', 'monorepo', async (at) => {
    const script = 'git status --short && git grep -c "x + 97" | wc -l && grep -rl "x + 96;" packages | wc -l';
    expectRan(await at.bash(script), { stdout: /1020\n1020\n$/ });
  });

  task('adds everything without files that contextd set aside', 'express', async (at) => {
    expectRan(await at.bash('mkdir -p x/.vscode && echo {} >x/.vscode/tasks.json && echo y >y'), {});
    expectRan(await at.bash('git add -A && git diff --cached --name-only'), { stdout: /^(?!.*quarantined)/s });
  });
});
