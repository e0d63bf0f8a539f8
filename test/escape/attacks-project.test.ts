import {
  chownSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Ground, identitiesHere, type Outcome, RunFailure } from '../helpers/sandbox-identities.ts';
import { proveConfined } from './planted.ts';

const ODD_FILES = [
  'mkfifo .git .envrc opencode.json sub/.git',
  'ln -s .git .git; ln -s /dev/zero .mcp.json; ln -s loop loop; ln -s . here',
  'truncate -s 900M .git; mkdir -p .claude/.git/.git/.git',
  'echo "gitdir: /proc/self/fd/0" >.git; mkdir -p sub/.git; mkfifo sub/.git/config sub/.git/commondir sub/.git/HEAD',
  'mkdir -p .git/modules .git/worktrees/w; mkfifo .git/worktrees/w/gitdir .git/worktrees/w/commondir; ln -s / .git/modules/all',
  'perl -e \'use Socket; socket(my $s, AF_UNIX, SOCK_STREAM, 0); bind $s, pack_sockaddr_un(".envrc")\'',
  'perl -e \'for (1 .. 60) { mkdir "x" x 100; chdir "x" x 100 } mkdir ".git"; mkdir ".git/hooks"\'',
] as const;

describe.each(identitiesHere())('attacks on the project, %s', (identity) => {
  let ground: Ground;
  beforeAll(async () => {
    ground = await Ground.open(identity);
    await proveConfined(ground);
  });
  beforeEach(() => ground.newProject());
  afterAll(() => ground.close());

  test('SEC-2.3 do not succeed through a submodule whose name is not text', async () => {
    ground.host("git init -q . && m=$(printf '.git/modules/bad\\377') && git init -q --bare $m && ls -d $m");
    const { out } = await ground.run(
      "cd $'.git/modules/bad\\377' && echo x >>config && echo wrote; : >hooks/x && echo wrote",
    );
    expect(out).toBe('');
  });

  test.each(ODD_FILES)(
    'SEC-2.3 do not hang or break later commands with odd files under protected names: %s',
    async (script) => {
      ground.host('mkdir sub');
      const seen = await ground.run(`${script}; true`, { timeoutMs: 5_000 }).catch((cause: unknown) => cause);
      if (seen instanceof RunFailure) expect(seen).toMatchObject({ known: true });
      else expect(seen).toMatchObject({ exitCode: 0 });
      expect(await ground.run('rm -rf .git* sub/.git*; echo works')).toMatchObject({ out: 'works\n' });
    },
  );

  test('SEC-2.3 do not get out through links swapped while sandboxes start and end', async () => {
    ground.host('git init -q . && rm -rf .git/info');
    const secret = 'outside of the project';
    for (const dir of ['', 'vscode', 'info']) {
      mkdirSync(join(ground.person, dir), { recursive: true });
      for (const name of ['attributes', 'tasks.json', 'config'])
        writeFileSync(join(ground.person, dir, name), secret, { mode: 0o666 });
    }
    const before = listed(ground.person);
    const flip = ground.start(
      `mkdir -p a b; echo x >a/attributes; : >flipping; while :; do ln -sfn ${ground.person} .vscode; rm -rf .git/info; ln -sfn ${ground.person} .git/info; rm -f .vscode .git/info; mkdir -p .vscode .git/info; echo x >.git/info/attributes; echo x >.vscode/tasks.json; rm -rf .vscode; done 2>/dev/null`,
      { timeoutMs: 60_000 },
    );
    await expect.poll(() => existsSync(join(ground.workspace, 'flipping')), { timeout: 20_000 }).toBe(true);
    for (let round = 0; round < 15; round++) {
      const looks = await Promise.all(
        [1, 2].map(() => ground.run('cat .vscode/* .git/info/* 2>/dev/null; true').catch((cause: unknown) => cause)),
      );
      for (const seen of looks) {
        if (seen instanceof RunFailure) expect(seen).toMatchObject({ known: true });
        else expect(seen).toMatchObject({ out: expect.not.stringContaining(secret) });
      }
    }
    await flip.cancel();
    await flip.result.catch(() => {});
    expect(listed(ground.person)).toEqual(before);
    ground.host('rm -rf .git/info .vscode');
    expect(await ground.run('echo works')).toMatchObject({ out: 'works\n' });
  });

  /** Waits until ready sandboxes show the project as it is now. */
  async function warmUp(): Promise<void> {
    await ground.run('true');
    await expect.poll(async () => [2, null].includes(await ground.readyCount()), { timeout: 10_000 }).toBe(true);
  }

  test('SEC-2.3 do not undo what the person changes between two commands', async () => {
    await warmUp();
    ground.host('echo one >.envrc; mkdir .vscode; echo "{}" >.vscode/tasks.json; git init -q .; echo secret >key.pem');
    const changed = await ground.run(
      'echo x >.envrc; echo x >.vscode/tasks.json; echo x >>.git/config; echo x >.git/hooks/x; cat .envrc',
    );
    expect(changed.out).toBe('one\n');
    expect(changed.quarantined).toEqual([]);
    await warmUp();
    ground.host('mv .vscode v2; mkdir .vscode; echo two >.vscode/tasks.json');
    const second = await ground.run('echo x >.vscode/tasks.json; cat .vscode/tasks.json');
    expect({ out: second.out, left: readdirSync(ground.workspace).sort() }).toEqual({
      out: 'two\n',
      left: ['.envrc', '.git', '.vscode', 'key.pem', 'v2'],
    });
    expect(readFileSync(join(ground.workspace, '.vscode', 'tasks.json'), 'utf8')).toBe('two\n');
  });

  test('SEC-2.3 do not bring back what the person removes while sandboxes are prepared', async () => {
    ground.host('mkdir keep');
    for (let round = 0; round < 20; round++) {
      await warmUp();
      ground.host('mkdir .vscode; echo "{}" >opencode.json; echo "{}" >.vscode/tasks.json');
      await ground.run('true');
      ground.host('mv .vscode opencode.json keep');
      await ground.run('true');
      await expect.poll(() => readdirSync(ground.workspace), { timeout: 20_000 }).toEqual(['keep']);
      ground.host('rm -rf keep/.vscode keep/opencode.json');
    }
  });

  test('SEC-2.3 do not reach the old project after it was replaced between two commands', async () => {
    await ground.run('echo old >where');
    await warmUp();
    renameSync(ground.workspace, `${ground.workspace}-moved`);
    mkdirSync(ground.workspace);
    if (ground.owner !== null) chownSync(ground.workspace, ground.owner, ground.owner);
    const seen = await ground.run('cat where; echo new >there; ls');
    expect(seen.out).toBe('there\n');
    expect(readdirSync(ground.workspace)).toEqual(['there']);
    expect(readdirSync(`${ground.workspace}-moved`)).toEqual(['where']);
  });

  test('SEC-2.3 do not reveal what a deny glob hides', async () => {
    ground.host(
      'mkdir -p keys/deep; for f in a.pem keys/b.pem keys/deep/c.pem; do echo hidden-key >$f; done; ln -s keys/b.pem link',
    );
    const policy = { policy: { deny: ['**/*.pem'] } };
    const tries = [
      'cat a.pem keys/b.pem keys/deep/c.pem link',
      'mv keys k2; cat k2/*.pem k2/deep/*.pem; mv keys/deep d2; cat d2/*; mv a.pem b; cat b',
      'ln a.pem c; cat c; cp -r keys copy; cat copy/*; tar cf - . | cat',
      'cat /proc/self/root/"$PWD"/a.pem /proc/1/cwd/a.pem; rm -rf keys; cat keys/b.pem; grep -r hidden .',
    ];
    for (const script of tries) {
      const seen = await ground.run(`${script} 2>/dev/null; true`, policy);
      expect(seen.out).not.toContain('hidden-key');
    }
    expect(ground.host('grep -rl hidden-key . | wc -l')).toBe('3\n');
    ground.host('echo hidden-key >late.pem');
    expect((await ground.run('cat late.pem', policy)).out).toBe('');
  });

  test('SEC-2.3 do not reveal what a deny path hides by renaming its parent in an earlier run', async () => {
    ground.host('mkdir -p conf/prod && echo hidden-key >conf/prod/key && echo hidden-key >conf/token');
    const policy = { policy: { deny: ['conf/token', 'conf/prod'] } };
    await ground.run('mv conf c2; mkdir conf; mv c2/prod p2', policy);
    const seen = await ground.run('cat c2/token c2/prod/key p2/key conf/token conf/prod/key; cat */* */*/*', policy);
    expect(seen.out).not.toContain('hidden-key');
  });

  test.each([
    'rm -rf .git/info; ln -s /tmp .git/info',
    'rm -rf .git/info; mkdir x; : >x/attributes; ln -s ../x .git/info',
    'mv .git/objects o; ln -s ../o .git/objects',
    'mkdir -p .git/modules; rmdir .git/modules; ln -s / .git/modules',
    'ln -s . .git/worktrees',
    'chmod 000 .git/info .git/refs',
    'rm -rf .git/info; : >.git/info',
    'ln -s .vscode .idea; ln -s .idea .vscode',
  ])('SEC-2.3 do not make the project unusable for the next command: %s', async (script) => {
    ground.host('git init -q .');
    await ground.run(`${script}; true`);
    expect(await ground.run('echo works')).toMatchObject({ out: 'works\n' });
  });

  test('SEC-2.3 do not hide a nested hook by setting times back, and what was moved is named', async () => {
    copyFileSync(
      join(import.meta.dirname, '..', 'fixtures', 'misbehaving', 'rewrite-mtime.sh'),
      join(ground.workspace, 'x.sh'),
    );
    const seen = await ground.run('bash x.sh');
    const isThere = () =>
      lstatSync(join(ground.workspace, 'deep/inner/.git/hooks/post-checkout'), { throwIfNoEntry: false }) !== undefined;
    await expect.poll(isThere).toBe(false);
    expect(named(seen)).toMatch(/^deep\/inner\/\.git/);
  });
});

function named(seen: Outcome): string {
  return seen.quarantined.join(' ');
}

/** Returns every file of a directory with its content. */
function listed(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${join(entry.parentPath, entry.name)} ${readFileSync(join(entry.parentPath, entry.name), 'utf8')}`)
    .sort();
}
