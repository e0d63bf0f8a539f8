import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Ground, identitiesHere } from '../helpers/sandbox-identities.ts';
import { perl } from './probes/probe.ts';

/** Every file of the workspace: kind, mode, owner, times of changes, target and content. */
const LIST = `find . -printf '%P %y %m %U %G %T@ %C@ %l\\n' | sort; find . -type f -print0 | sort -z | xargs -0r sha256sum`;
/** A function of Perl that sets an attribute. */
const SET =
  'use POSIX (); my $n = (POSIX::uname())[4] eq "x86_64" ? 188 : 5; sub set { my ($p, $k, $v) = @_; syscall($n, $p, $k, $v, length $v, 0) }';

/** What a command in a branch may try, to reach the base or to mislead the overlay about it. */
const ATTACKS = [
  perl(
    `${SET}; for my $p (".", "d", "d/f", "v") { set($p, "user.overlay.$_", "y") for qw(opaque whiteout whiteouts impure origin) }`,
  ),
  perl(
    `${SET}; set("d/f", "user.overlay.redirect", "/d/g"); set("d/f", "user.overlay.metacopy", ""); set("d/f", "trusted.overlay.opaque", "y")`,
  ),
  'mknod d/w c 0 0; rm -f d/g; mknod d/g c 0 0; mkdir made; mknod made/f c 0 0; true',
  'rm -rf e; mkdir e; echo x >e/f; rm -rf e; ln -s "$PWD/d" e; echo through >>e/f; echo through >e/new',
  'rm -rf v; ln -s "$PWD/v" v; ln -s /proc/1/root r; echo x >r$PWD/d/f; echo x >/proc/self/root$PWD/d/g',
  'ln d/f hard; echo more >>hard; chmod 777 d/f; touch -d @1 d/f; truncate -s 0 d/big; chmod 700 .',
  perl(
    'open(my $f, "+<", "d/f"); sysseek($f, 0, 0); syswrite($f, "XX"); open(my $g, "<", "d/big"); ioctl($g, 0x40086602, pack("L", 0x10))',
  ),
  'mv "$PWD" "$PWD.x"; mv .. ../../x; mv d d2; mv d2/f d2/g; rmdir ..; true',
  'umount "$PWD"; mount -o remount,rw "$PWD"; unshare -Ur umount "$PWD"; unshare -Urm mount -t tmpfs none "$PWD"; true',
  'for p in /proc/[0-9]*/root /proc/[0-9]*/cwd; do echo x >"$p/d/f" 2>/dev/null; done; rm -rf ./* ./.[!.]*; echo only >left; true',
];

describe.each(identitiesHere())('files of a branch, %s', (identity) => {
  let ground: Ground;
  beforeAll(async () => {
    ground = await Ground.open(identity);
  });
  beforeEach(async () => {
    ground.newProject();
    ground.host(
      'git init -q -b main . && mkdir d e v .vscode && for f in d/f d/g e/f v/f; do echo $f >$f; done && head -c 100000 /dev/zero >d/big && : >.vscode/s && git add -A && git commit -qm first',
    );
    await ground.createLayer('br_1');
  });
  afterAll(() => ground.close());

  test('SEC-2.3 nothing that a command in a branch does changes the base, by itself or in the next call', async () => {
    const before = ground.host(LIST);
    const beside = readdirSync(ground.base);
    for (const attack of ATTACKS) {
      await ground.run(attack, ground.in('br_1'));
      expect(ground.host(LIST), attack).toBe(before);
      const next = await ground.run('echo next >next; cat next; find . -type f >/dev/null; true', ground.in('br_1'));
      expect(next, attack).toMatchObject({ exitCode: 0, out: 'next\n' });
    }
    await ground.createLayer('br_1', 'br_2');
    const inner = await ground.run('rm -rf d e v; echo inner >f; ls', ground.in('br_1', 'br_2'));
    expect(inner).toMatchObject({ exitCode: 0, out: 'f\nleft\nnext\n' });
    expect(ground.host(LIST)).toBe(before);
    expect(readdirSync(ground.base)).toEqual(beside);
  });

  test('SEC-2.3 the repository of a linked worktree is read-only in a branch, and so are its parts that git writes', async () => {
    const main = ground.workspace;
    ground.newProject('linked');
    ground.host(`git -C '${main}' worktree add -q "$PWD" -b linked`);
    await ground.createLayer('br_1');
    const before = [ground.host(LIST), ground.host(`cd '${main}' && ${LIST}`)];
    const script = `cat d/f; git log --format=%s; echo x >>d/f; git commit -qam second; g='${main}/.git'; echo x >"$g/x"; echo x >"$g/objects/x"; echo x >"$g/worktrees/linked/x"; echo x >"$g/refs/heads/x"`;
    const done = await ground.run(script, ground.in('br_1'));
    expect(done.out).toBe('d/f\nfirst\n');
    expect(done.err.match(/Read-only file system/g)?.length).toBeGreaterThanOrEqual(5);
    expect([ground.host(LIST), ground.host(`cd '${main}' && ${LIST}`)]).toEqual(before);
  });

  test('SEC-2.3 links in a branch lead what is protected in the base nowhere, and no call is refused for them', async () => {
    const links = 'ln -s "$PWD/$d" $d; ln -s / x$d; ln -s .. y$d; echo file >z$d';
    await ground.run(`for d in a b; do ${links}; done; mkdir q; echo q >q/.envrc`, ground.in('br_1'));
    ground.host('for d in a b xa xb ya yb za zb q; do mkdir -p $d/.vscode $d/.git/hooks; echo base >$d/.envrc; done');
    const before = ground.host(LIST);
    const policy = { ...ground.in('br_1').policy, deny: ['**/.envrc', 'xa/**'] };
    const swap = 'for i in $(seq 20); do rm -rf q; ln -s "$PWD/a" q; rm q; mkdir -p q/.vscode; done; true';
    const runs = [swap, 'echo x >>q/.envrc; ls -A . >/dev/null', swap, 'cat q/.envrc xa/.envrc; true'];
    const done = await Promise.all(runs.map((script) => ground.run(script, { policy })));
    for (const { out, err } of done) expect(`${out}${err}`).not.toContain('base');
    expect(ground.host(LIST)).toBe(before);
    expect(await ground.run('echo works', { policy })).toMatchObject({ exitCode: 0, out: 'works\n' });
  });

  test('SEC-2.3 a deny glob hides in a branch what it hides in the base, whatever the branch moves', async () => {
    ground.host('mkdir -p deep/in && for f in .env deep/in/.env d/.env; do echo hidden >$f; done');
    await ground.createLayer('br_1', 'br_2');
    const before = ground.host(LIST);
    for (const branch of [['br_1'], ['br_1', 'br_2']]) {
      const policy = { ...ground.in(...branch).policy, deny: ['**/.env'] };
      const moves =
        'mv deep moved; cp -r deep copied; mv .env plain; ln d/.env hard; tar cf t.tar .; git add -f .; rm -rf d; mkdir -p d; mv e d; true';
      await ground.run(moves, { policy });
      const { out, err } = await ground.run('cat v/f; grep -ra hidden . .git; git grep -h hidden; true', {
        policy,
      });
      expect(out).toContain('v/f');
      expect(`${out}${err}`).not.toMatch(/^hidden|:hidden/m);
    }
    expect(ground.host(LIST)).toBe(before);
    ground.host('mkdir -p later; echo hidden >later/.env');
    const { policy } = ground.in('br_1', 'br_2');
    const read = await ground.run('ls -A later; cat later/.env; true', { policy: { ...policy, deny: ['**/.env'] } });
    expect(read).toMatchObject({ out: '.env\n', err: expect.stringContaining('Permission denied') });
  });

  test('SEC-2.3 attributes of the overlay in a base lead a branch nowhere', async () => {
    writeFileSync(join(ground.person, 'secret'), 'token-of-the-person', { mode: 0o644 });
    const up = Buffer.from(join(ground.person, 'secret')).toString('hex');
    ground.host(
      perl(
        `${SET}; my $t = pack("H*", "${up}"); for my $p ("d/f", "d", "e", "e/f") { set($p, "user.overlay.redirect", $t); set($p, "user.overlay.metacopy", ""); set($p, "user.overlay.opaque", "y") } set("v/f", "user.overlay.redirect", $t);`,
      ),
    );
    const before = ground.host(LIST);
    const read = await ground.run('cat d/* e/* v/*; ls -lR; true', ground.in('br_1'));
    expect(`${read.out}${read.err}`).not.toContain('token-of-the-person');
    expect(ground.host(LIST)).toBe(before);
  });
});
