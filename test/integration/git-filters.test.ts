import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Bench, LIMITS, openBench, whoCanRun } from '../fixtures/sandbox-harness.ts';

/** Who has a home directory here: the daemon's own user. */
const [who = 'ordinary user'] = whoCanRun();
/** Stands for Git LFS: git keeps `pointer …`, and the worktree has `raw …`. */
const PROGRAM = `#!/bin/sh
case $1 in
clean) sed 's/^raw/pointer/' ;;
smudge) sed 's/^pointer/raw/' ;;
*) exit 1 ;;
esac
`;
const OLD = 'touch -d 2020-01-01 *';

let bench: Bench;
let tools: string;
/** A policy that is new each time is checked again, so that the configuration is read. */
let fileBytes = LIMITS.fileBytes;
const inside = (script: string, roPaths: readonly string[] = []) =>
  bench.bash(`set -e; ${script}`, {}, { git: 'working', roPaths, limits: { ...LIMITS, fileBytes: ++fileBytes } });
const configure = (text: string) =>
  writeFileSync(join(bench.base, '.gitconfig'), `[user]\n\tname = A\n\temail = a@example.com\n${text}`);
const filter = (program: string, more = '') =>
  `[filter "large"]\n\tclean = ${program} clean -- %f\n\tsmudge = ${program} smudge -- %f\n${more}`;
/** With the filter, as a person's git has it. */
const host = (script: string) =>
  bench.host(
    `git() { command git -c filter.large.clean="${tools}/fake-large clean" -c filter.large.smudge="${tools}/fake-large smudge" "$@"; }; ${script}`,
  );

beforeAll(async () => {
  bench = await openBench(who);
  tools = join(bench.base, 'bin');
  mkdirSync(tools);
  writeFileSync(join(tools, 'fake-large'), PROGRAM);
  chmodSync(join(tools, 'fake-large'), 0o755);
});
afterAll(() => bench.close());

beforeEach(() => {
  bench.host('rm -rf .git * .gitattributes');
  bench.host(
    'git init -qb main . && echo "*.png filter=large" > .gitattributes && echo 1 > code.txt && echo raw 1 > a.png',
  );
  // An index that is younger than its files, so that git does not read them again.
  host(`${OLD} && git add . && git commit -qm first`);
});

test('a commit leaves a filtered file that nobody touched as it is, if commands do not have the filter', async () => {
  configure(filter('fake-large', '\tprocess = fake-large process\n\trequired = true\n'));
  expect(await inside('echo 2 > code.txt; git commit -qam x; git status --porcelain')).toMatchObject({
    exitCode: 0,
    out: '',
  });
  expect(bench.host('git show --stat --format= HEAD && git cat-file -p HEAD:a.png && cat a.png')).toBe(
    ' code.txt | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\npointer 1\nraw 1\n',
  );
});

test('a commit that needs a filter that commands do not have is refused with the reason', async () => {
  for (const required of ['true', 'false']) {
    configure(filter('fake-large', `\tprocess = fake-large process\n\trequired = ${required}\n`));
    const { exitCode, err } = await inside('echo raw 2 > a.png; git commit -qam x');
    expect([exitCode, err]).toEqual([128, expect.stringContaining("fatal: a.png: clean filter 'large' failed")]);
    expect(err).toContain(
      'contextd: a.png cannot be added or compared: the filter large of the git configuration needs fake-large, which commands do not have.',
    );
    expect(bench.host('git rev-list --count HEAD')).toBe('1\n');
  }
});

test('without the filter, a checkout leaves what git stores, and the tree is clean at once', async () => {
  host(
    `git switch -qc other && echo raw 3 > a.png && git commit -qam other && git switch -q main && ${OLD} && git update-index -q --refresh`,
  );
  configure(filter('fake-large'));
  const { exitCode, out, err } = await inside(
    'git switch -q other; git status --porcelain; cat a.png; git commit -q --allow-empty -am e',
  );
  expect([exitCode, out]).toEqual([0, 'pointer 3\n']);
  expect(err).toContain('contextd: a.png is checked out as git stores it: the filter large');
  expect(bench.host('git cat-file -p HEAD:a.png')).toBe('pointer 3\n');
});

test('a filter that commands have works inside', async () => {
  for (const program of ['fake-large', join(tools, 'fake-large')]) {
    configure(filter(program));
    const script = `echo raw ${program.length} > a.png; git commit -qam x; rm a.png; git checkout -q a.png; cat a.png`;
    const done = await inside(script, [tools]);
    expect([done.exitCode, done.out, done.err]).toEqual([0, `raw ${program.length}\n`, '']);
    expect(bench.host('git cat-file -p HEAD:a.png')).toBe(`pointer ${program.length}\n`);
  }
});

test('a filter that fails inside refuses the commit, whether it is required or not', async () => {
  configure('[filter "large"]\n\tclean = sh /nowhere/clean.sh\n');
  const { exitCode, err } = await inside('echo raw 2 > a.png; git commit -qam x');
  expect([exitCode, err]).toEqual([128, expect.stringContaining("clean filter 'large' failed")]);
});

test('a pipe whose first program is missing does not commit its empty output', async () => {
  configure('[filter "large"]\n\tclean = fake-large clean | cat\n');
  const { exitCode, err } = await inside('echo raw 2 > a.png; git commit -qam x');
  expect([exitCode, err]).toEqual([128, expect.stringContaining('needs fake-large clean ? cat')]);
});

test('a filter of the repository, or of a file that it includes, is refused in the same way', async () => {
  configure('');
  bench.host(
    'git config filter.large.clean "fake-large clean" && git config filter.large.process "fake-large process"',
  );
  const change = 'echo raw 2 > a.png; git commit -qam x';
  expect((await inside(change)).err).toContain('contextd: a.png cannot be added or compared: the filter large');
  bench.host(
    'git config --remove-section filter.large && printf "[filter \\"large\\"]\\nprocess = fake-large p\\n" > shared',
  );
  bench.host('git config include.path ../shared');
  expect((await inside(change)).err).toContain(
    'contextd: files cannot be added, compared or checked out: the filter large',
  );
  expect(bench.host('git rev-list --count HEAD')).toBe('1\n');
});

test('a merge driver works inside if commands have it; otherwise the merge stops', async () => {
  bench.host('echo "code.txt merge=own" > .git/info/attributes; git config merge.own.driver true');
  bench.host('git switch -qc side && echo side > code.txt && git commit -qam side && git switch -q main');
  bench.host('echo main > code.txt && git commit -qam main');
  configure('');
  expect(await inside('git merge -q --no-edit side; cat code.txt')).toMatchObject({
    exitCode: 0,
    out: 'Auto-merging code.txt\nmain\n',
  });
  bench.host('git reset -q --hard HEAD~1 && git config --unset merge.own.driver');
  configure('[merge "own"]\n\tdriver = fake-merge %O %A %B\n');
  const { exitCode, err } = await inside('git merge -q --no-edit side');
  expect([exitCode, err]).toEqual([
    1,
    expect.stringContaining('the merge driver own of the git configuration needs fake-merge'),
  ]);
});

test('line ends, encodings and attributes of the person decide inside what is committed, as outside', async () => {
  mkdirSync(join(bench.base, '.config/git'), { recursive: true });
  writeFileSync(join(bench.base, '.config/git/attributes'), '*.low filter=low\n');
  configure(
    '[core]\n\tautocrlf = input\n\tsafecrlf = false\n[i18n]\n\tcommitEncoding = ISO-8859-1\n[filter "low"]\n\tclean = tr A-Z a-z\n',
  );
  const done = await inside(
    "printf 'A\\r\\n' > crlf.txt; printf 'BIG\\r\\n' > x.low; git add .; printf '\\344' | git commit -qF -",
  );
  expect(done).toMatchObject({ exitCode: 0 });
  expect(
    bench.host(
      'git cat-file -p HEAD:crlf.txt | od -An -c; git cat-file -p HEAD:x.low; git cat-file -p HEAD | grep encoding',
    ),
  ).toBe('   A  \\n\nbig\nencoding ISO-8859-1\n');
  configure('[core]\n\tattributesFile = ~/own\n[filter "low"]\n\tclean = tr A-Z a-z\n');
  writeFileSync(join(bench.base, 'own'), '*.other filter=low');
  await inside('echo BIG > y.low; echo BIG > y.other; git add .; git commit -qm y');
  expect(bench.host('git cat-file -p HEAD:y.low; git cat-file -p HEAD:y.other')).toBe('BIG\nbig\n');
});
