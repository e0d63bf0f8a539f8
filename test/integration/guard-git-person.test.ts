import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bench, letTimePass, openBench, pathsOf } from '../helpers/workspace-bench.ts';

let bench: Bench;
beforeEach(() => {
  bench = openBench();
});
afterEach(() => bench.close());

/** A repository of the person whose submodule comes from outside of every tree. */
const WITH_SUBMODULE = `
  git init -q -b main ../lib && (cd ../lib && git commit -q --allow-empty -m l)
  git init -q -b main . && git -c protocol.file.allow=always submodule --quiet add "$PWD/../lib" lib && git commit -q -m s`;
const WITH_REMOTE = 'git init -q . && git remote add up "$PWD/../lib"';

/** What the person's git has at the end of a call: contextd writes into the same file, git makes a new one. */
const append = (remote: string, path: string) => `printf '[remote "${remote}"]\\n\\turl = ${path}\\n' >>.git/config`;

describe('what a person wrote into git stays, whatever a command does beside it', () => {
  it('issue 30.2.4: a worktree with its submodule, made while nothing ran', async () => {
    bench.sh(WITH_SUBMODULE);
    const guard = bench.guard();
    expect((await bench.run(guard, 'git status -s')).quarantined).toEqual([]);
    for (const [branch, place] of Object.entries({ w1: '.claude/worktrees/w1', w2: 'beside' })) {
      bench.sh(`git worktree add -q ${place} -b ${branch}
        git -C ${place} -c protocol.file.allow=always submodule --quiet update --init`);
      letTimePass();
      const report = await bench.run(guard, `cd ${place} && git status -s && git submodule status && touch lib/x`);
      expect(report.quarantined).toEqual([]);
    }
  });

  it.each([
    ['submodule', WITH_SUBMODULE],
    ['remote', WITH_REMOTE],
  ])('issue 30.2.5: a %s outside, when a new remote leads to a directory that was allowed', async (_what, made) => {
    bench.sh(made);
    const store = join(bench.base, 'store');
    mkdirSync(store);
    bench.sh('git init -q --bare ../store');
    const guard = bench.guard();
    guard.accompany([store]);
    expect((await bench.run(guard, 'true')).quarantined).toEqual([]);
    for (const command of [append('mine', store), 'git remote rename mine own', 'git remote remove own']) {
      letTimePass();
      expect((await bench.run(guard, command)).quarantined).toEqual([]);
    }
    expect(bench.sh('git config --get-regexp url')).toContain('/lib');
  });

  it('SEC-2.3: but no link that the command turns elsewhere', async () => {
    const [a, b] = [join(bench.base, 'a'), join(bench.base, 'b')];
    for (const dir of [a, b]) mkdirSync(dir);
    bench.sh(`${WITH_REMOTE}; ln -s ../a way; git remote add on "$PWD/way/r"`);
    const guard = bench.guard();
    expect((await bench.run(guard, 'true')).quarantined).toEqual([]);
    letTimePass();
    expect((await bench.run(guard, `${append('in', `${bench.workspace}/c`)}; ln -sfn ../b way`)).quarantined).toEqual([
      'way',
    ]);
  });

  it.each([
    ['config', 'core.fsmonitor evil'],
    ['config', 'remote.origin.pushurl ../elsewhere'],
    ['config.worktree', 'user.name Mallory'],
  ])(
    'SEC-2.3: nor what a command made in a %s of its own (%s), also if a search saw it being made',
    async (file, entry) => {
      bench.sh('git init -q . && git commit -q --allow-empty -m x');
      const guard = bench.guard();
      const run = guard.begin(await guard.protection());
      bench.sh(`git config extensions.worktreeConfig true; git worktree add -q wt; git init -q new
      ${file === 'config' ? 'git -C new config' : 'git -C wt config --worktree'} ${entry}`);
      await guard.search();
      const { quarantined } = pathsOf(await guard.finish(run));
      expect(quarantined).toContain(file === 'config' ? 'new/.git/config' : '.git/worktrees/wt/config.worktree');
    },
  );
});
