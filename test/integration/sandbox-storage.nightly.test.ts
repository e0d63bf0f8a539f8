import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, type Outcome, openBench, whoCanRun } from '../fixtures/sandbox-harness.ts';

const MIB = 1024 * 1024;
/** A file system on which nobody else frees as much as a test writes. */
const QUIET = existsSync('/dev/shm') ? '/dev/shm' : null;

for (const who of whoCanRun()) {
  describe(`the storage of commands in a ${who}`, () => {
    let bench: Bench;

    beforeAll(async () => {
      bench = await openBench(who, { cache_max_mb: 16, session_max_mb: 16 }, undefined, QUIET);
    });
    afterAll(() => bench.close());

    const run = (session: string, script: string): Promise<Outcome> =>
      bench.bash(script, {}, { storage: { session }, network: 'project', git: 'working' });

    const bytesOf = async (): Promise<number> => {
      const caches = await bench.sandbox.storage({ do: 'list' });
      return caches.find(({ project }) => project === bench.workspace)?.bytes ?? 0;
    };

    it('keeps caches for every session of the project, at the places where programs look for them', async () => {
      const write =
        'mkdir -p ~/.cache/pip ~/go/pkg && echo 1 >~/.cache/pip/x && echo 2 >~/go/pkg/x && echo 3 >~/.npm/x && ' +
        'echo 4 >~/.cargo/registry/x && echo 5 >~/.m2/repository/x && echo 6 >~/.gradle/caches/x';
      expect(await run('a', write)).toMatchObject({ exitCode: 0, err: '' });
      const read = 'cat ~/.cache/pip/x ~/go/pkg/x ~/.npm/x ~/.cargo/registry/x ~/.m2/repository/x ~/.gradle/caches/x';
      expect((await run('b', read)).out).toBe('1\n2\n3\n4\n5\n6\n');
    });

    it('issue 34 names npm its cache by the real path, because npx installs again what it finds behind a link, unless the caller names one', async () => {
      const named = 'printf "%s %s" "$npm_config_cache" "$(realpath ~/.npm)"';
      const [variable, real] = (await run('a', named)).out.split(' ');
      expect(variable).toBe(real);
      const env = { NPM_CONFIG_CACHE: '/tmp/own' };
      const own = await bench.bash(named, { env }, { storage: { session: 'a' }, network: 'project', git: 'working' });
      expect(own.out).toMatch(/^ /);
    });

    it('keeps the rest of HOME and /tmp for the session that wrote it, and for no other', async () => {
      const write =
        'mkdir -p ~/.config && for f in ~/.npmrc ~/.gitconfig ~/.cargo/config.toml ~/.m2/settings.xml ~/.bashrc /tmp/x; ' +
        'do echo mine >"$f" || exit; done';
      expect(await run('one', write)).toMatchObject({ exitCode: 0, err: '' });
      const read = 'cat ~/.npmrc ~/.gitconfig ~/.cargo/config.toml ~/.m2/settings.xml ~/.bashrc /tmp/x 2>/dev/null';
      expect((await run('one', read)).out).toBe('mine\n'.repeat(6));
      expect((await run('two', read)).out).toBe('');
    });

    it('shows a tool process and a policy without a storage nothing of it', async () => {
      await run('one', 'echo here >~/.cache/mark; echo here >/tmp/mark');
      const seen = await bench.bash('ls -A ~ /tmp /var/cache/contextd 2>&1');
      expect(seen.out).not.toContain('mark');
      expect(seen.out).toContain("cannot access '/var/cache/contextd'");
    });

    it('does not let a command move or replace what is mounted in /tmp: here the directory above the project', async () => {
      const top = bench.workspace.split('/').slice(0, 3).join('/');
      const moved = await run('mover', `mv ${top} /tmp/x; rmdir ${top}; ln -sfn /etc ${top}; echo mine >${top}/x`);
      expect(moved.err).toMatch(/mv: cannot move .*Device or resource busy/);
      expect(moved.err).toContain('Read-only file system');
      expect(await run('mover', 'pwd; ls -d /tmp/x')).toMatchObject({ out: `${bench.workspace}\n`, exitCode: 2 });
    });

    it('ends a command whose /tmp grows over the limit of the session, and lets the next one remove files', async () => {
      const full = await run('full', 'head -c 24M /dev/zero >/tmp/big; sleep 60');
      expect(full).toMatchObject({ endedBy: 'storage_limit', exitCode: null });
      expect(await run('full', 'rm /tmp/big && echo removed')).toMatchObject({ endedBy: 'exit', out: 'removed\n' });
    });

    it('counts files that have no content, and files in a directory that is deeper than a path can be', async () => {
      const deep = 'import os\nos.chdir("/tmp")\nfor i in range(40):\n os.mkdir("d"*200); os.chdir("d"*200)\n';
      const fill = 'import time\nfor i in range(5): open(str(i),"wb").write(b"x"*(8<<20))\ntime.sleep(60)';
      expect(await run('deep', `python3 -c '${deep}${fill}'`)).toMatchObject({ endedBy: 'storage_limit' });
      const many = 'for i in range(40000): open("/tmp/%d" % i, "w").close()\nimport time; time.sleep(60)';
      expect(await run('many', `python3 -c '${many}'`)).toMatchObject({ endedBy: 'storage_limit' });
    });

    it('SEC-2.5: ends a command whose HOME grows while it closes its directories again and again', async () => {
      const closing = '(while :; do chmod 0 d; chmod 700 d; done) 2>/dev/null &';
      const made = 'mkdir -p ~/d && cd ~ && for i in $(seq 500); do : >d/$i; done';
      const ended = await run('closing', `${made}; ${closing} head -c 30000000 /dev/zero >~/large; sleep 60`);
      expect(ended).toMatchObject({ endedBy: 'storage_limit' });
    });

    it('drops the caches that were not used for longest when no command runs any more', async () => {
      await bench.sandbox.storage({ do: 'clear', project: bench.workspace });
      await run(
        'a',
        'mkdir ~/.cache/old && head -c 9M /dev/zero >~/.cache/old/x && touch -d 2020-01-01 ~/.cache/old/x',
      );
      await run('a', 'head -c 9M /dev/zero >~/.npm/new');
      await bench.sandbox.storage({ do: 'sweep', live: [], sessionsBeforeMs: 0, cachesBeforeMs: 0 });
      expect(await bytesOf()).toBeLessThan(10 * MIB);
      expect((await run('a', 'ls -A ~/.cache ~/.cache/old ~/.npm')).out).toContain('new');
      expect((await run('a', 'ls -A ~/.cache/old')).out).toBe('');
    });

    it('empties caches whatever is in them, and follows no link', async () => {
      const outside = join(bench.base, `kept-${who.length}`);
      mkdirSync(outside);
      writeFileSync(join(outside, 'file'), 'kept');
      await run(
        'a',
        `mkdir -p ~/go/pkg/mod/m@v1 && echo x >~/go/pkg/mod/m@v1/f && chmod -R a-w ~/go/pkg/mod; mkdir -p ~/.npm/shut/in && ` +
          `chmod 0 ~/.npm/shut; ln -s ${outside} ~/.cache/way; mkfifo ~/.cache/fifo; touch ~/.cache/$'\\xff\\n'; ` +
          'cd ~/.cache; for i in $(seq 40); do mkdir dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd; cd -P d*; done; echo deep >x',
      );
      const [caches] = await bench.sandbox.storage({ do: 'clear', project: bench.workspace });
      expect(caches).toMatchObject({ project: bench.workspace, maxBytes: 16 * MIB });
      expect(caches?.bytes).toBeLessThan(MIB);
      expect((await run('a', 'ls -A ~/.cache ~/.npm ~/go | grep -v :')).out.trim()).toBe('');
      expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('kept');
    });

    it('removes HOME and /tmp with their session; the session has new ones if it goes on', async () => {
      await run('gone', 'echo x >~/x; mkdir /tmp/shut; echo x >/tmp/shut/x; chmod 0 /tmp/shut');
      await run('stays', 'echo x >~/x');
      const sessions = sessionsOf(bench);
      await bench.sandbox.storage({ do: 'end_session', project: bench.workspace, session: 'gone' });
      expect(sessionsOf(bench)).toHaveLength(sessions.length - 1);
      expect((await run('gone', 'ls -A ~/x /tmp/shut 2>/dev/null; echo y >/tmp/y && cat /tmp/y')).out).toBe('y\n');
      expect((await run('stays', 'cat ~/x')).out).toBe('x\n');
    });

    it('sweeps sessions and caches that nothing used, and none that a command uses now', async () => {
      const own = await openBench(who, { preforked: 0 }, undefined, QUIET);
      const runIn = (session: string, script: string): Promise<Outcome> =>
        own.bash(script, {}, { storage: { session } });
      try {
        await runIn('idle', 'echo x >/tmp/x; echo x >~/.cache/x');
        await runIn('live', 'echo alive >/tmp/x');
        const later = Date.now() + 60_000;
        const wait = 'echo up >/tmp/up; for i in $(seq 200); do [ -e stop ] && break; sleep 0.1; done; cat /tmp/up';
        const running = runIn('busy', `touch began; ${wait}`);
        await expect.poll(() => existsSync(join(own.workspace, 'began'))).toBe(true);
        const live = [{ project: own.workspace, session: 'live' }];
        await own.sandbox.storage({ do: 'sweep', live, sessionsBeforeMs: later, cachesBeforeMs: later });
        own.host('touch stop');
        expect((await running).out).toBe('up\n');
        expect((await runIn('idle', 'cat ~/.cache/x; ls /tmp/x 2>&1')).out).toMatch(
          /^x\n.*No such file or directory\n$/,
        );
        expect((await runIn('live', 'cat /tmp/x')).out).toBe('alive\n');
        await own.sandbox.storage({ do: 'sweep', live: [], sessionsBeforeMs: later, cachesBeforeMs: later });
        expect(await own.sandbox.storage({ do: 'list' })).toEqual([]);
        expect(readdirSync(join(own.home, 'data', 'storage'))).toEqual([]);
      } finally {
        await own.close();
      }
    });

    it('gives a command its directories back that an earlier one has closed', async () => {
      await run('shut', 'chmod 0 ~ /tmp /var/cache/contextd');
      expect((await run('shut', 'echo x >/tmp/x && echo y >~/.cache/y && cat /tmp/x ~/.cache/y')).out).toBe('x\ny\n');
    });
  });
}

/** The directories of all sessions. */
function sessionsOf(bench: Bench): string[] {
  const storage = join(bench.home, 'data', 'storage');
  return readdirSync(storage).flatMap((project) => readdirSync(join(storage, project, 'sessions')));
}
