import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toRaw } from '#src/fs/raw-path.js';
import type { QuarantinedItem } from '#src/guard/contract/quarantine.js';
import { moveAside } from '#src/guard/quarantine/set-aside.js';
import { type Bench, type LocalGuard, openBench } from '../helpers/workspace-bench.ts';

let bench: Bench;
let guard: LocalGuard;
let store: string;
beforeEach(() => {
  bench = openBench();
  guard = bench.guard();
  store = join(bench.base, 'state/ledger');
});
afterEach(() => bench.close());

async function list(): Promise<readonly QuarantinedItem[]> {
  return (await guard.quarantine({ kind: 'list', which: null })).items;
}

/** What a run made and what was set aside as the only item. */
async function setAside(script: string): Promise<QuarantinedItem> {
  await bench.run(guard, script);
  const [item, ...others] = await list();
  if (item === undefined || others.length > 0) throw new Error(`${script} left ${others.length + 1} items`);
  return item;
}

const restore = (which: string) => guard.quarantine({ kind: 'restore', which });
const remove = (which: string) => guard.quarantine({ kind: 'remove', which });

/** Kind, mode, owner and content of everything below a directory. */
const shapeOf = (dir: string) =>
  bench.sh(`cd ${dir}; find . -mindepth 1 -printf '%P %y %m %U %l\\n' | sort; find . -type f -exec cat {} + | sort`);

describe('the store of what was set aside', () => {
  it.each([
    ['a link', 'd/.claude', 'ln -s ../../elsewhere d/.claude'],
    ['a closed directory', 'd/.vscode', 'mkdir d/.vscode; echo x >d/.vscode/a; chmod 500 d/.vscode'],
    ['a file with a mode', 'd/.envrc', 'echo x >d/.envrc; chmod 6751 d/.envrc'],
    [
      'a file below a name that is not UTF-8',
      'd/\ufffd\ufffd/.envrc',
      "mkdir d/$'\\377\\376'; echo x >d/$'\\377\\376'/.envrc",
    ],
    ['a file in a closed directory', 'd/e/.envrc', 'mkdir d/e; echo x >d/e/.envrc; chmod 500 d/e'],
  ])('SEC-2.3: keeps %s whole until it is restored', async (_title, path, script) => {
    bench.sh(`mkdir d; ${script}`);
    const before = shapeOf('d');
    bench.sh('chmod -R u+w d; rm -r d; mkdir d');
    const item = await setAside(script);
    expect(item).toMatchObject({ path, moved: expect.stringContaining(`${store}/${item.id}/`) });
    expect([lstatSync(store).mode & 0o777, lstatSync(join(store, item.id)).mode & 0o777]).toEqual([0o700, 0o700]);
    await restore(item.id);
    expect([shapeOf('d'), readdirSync(store)]).toEqual([before, []]);
    expect((await bench.run(guard, 'true')).quarantined).toEqual([]);
  });

  it('SEC-2.3: keeps a name of 255 bytes, any byte but NUL and a slash, whole', async () => {
    const name = `\\377\\n${'n'.repeat(253)}`;
    const item = await setAside(`mkdir s; ln -s ${bench.own} s/$'${name}'`);
    expect(item.path).toBe(`s/\ufffd\n${'n'.repeat(253)}`);
    expect(readdirSync(join(bench.workspace, 's'))).toEqual([]);
    await restore(item.id);
    expect(readlinkSync(Buffer.from(`${bench.workspace}/s/\xff\n${'n'.repeat(253)}`, 'latin1'))).toBe(bench.own);
  });

  it('SEC-2.3: a job that has a file open, or another name for it, does not change what is kept and restored', async () => {
    for (const putBack of [
      restore,
      async (which: string) => {
        const [item] = await list();
        return guard.quarantine({ kind: 'accept', which, sha256: item?.sha256 ?? '' });
      },
    ]) {
      for (const make of ['echo good >.envrc', 'echo good >.envrc; ln .envrc other']) {
        const [job, watch] = [guard.begin(await guard.protection()), guard.begin(await guard.protection())];
        bench.sh(make);
        const fd = openSync(join(bench.workspace, '.envrc'), 'r+');
        const [{ id = '' } = {}] = (await guard.finish(watch)).quarantined;
        writeSync(fd, 'evil');
        closeSync(fd);
        await guard.finish(job);
        await bench.run(guard, 'echo evil >>other');
        expect(bench.stored().map((path) => readFileSync(path, 'utf8'))).toEqual(['good\n']);
        await putBack(id);
        await bench.run(guard, 'echo evil >>other');
        expect(bench.sh('cat .envrc; rm .envrc other')).toBe('good\n');
      }
    }
  });

  it('SEC-2.3: another name of a file in a directory does not change what is kept and restored', async () => {
    const { id, moved, sha256 } = await setAside('mkdir -p .vscode/a; echo good >other; ln other .vscode/a/b');
    expect(sha256).toMatch(/^[0-9a-f]{64}$/);
    await bench.run(guard, 'echo evil >other');
    expect(readFileSync(join(moved, 'a/b'), 'utf8')).toBe('good\n');
    await restore(id);
    await bench.run(guard, 'echo evil >>other');
    expect(bench.sh('cat .vscode/a/b')).toBe('good\n');
  });

  it('SEC-2.3: a user who is not root moves directories that were closed, which keep their mode', () => {
    const script = `
      import { lstatSync, mkdirSync, chmodSync } from 'node:fs';
      const { QuarantineStore } = await import(${JSON.stringify(import.meta.resolve('#src/guard/quarantine/store.js'))});
      const { putBack } = await import(${JSON.stringify(import.meta.resolve('#src/guard/quarantine/set-aside.js'))});
      const { silentLogger } = await import(${JSON.stringify(import.meta.resolve('#src/core/log.js'))});
      const store = new QuarantineStore('own/store', silentLogger);
      const at = process.cwd() + '/p/.vscode';
      mkdirSync(at, { recursive: true });
      chmodSync(at, 0o500); chmodSync('p', 0o500);
      const moved = store.take(at, true);
      const modes = [lstatSync(moved).mode & 0o777, lstatSync('p').mode & 0o777];
      const outcome = putBack(moved, at);
      modes.push(lstatSync(at).mode & 0o777, lstatSync('p').mode & 0o777);
      const again = store.take(at, true);
      store.remove(again, () => {});
      chmodSync('p', 0o700);
      console.log(JSON.stringify([modes, outcome, lstatSync(again, { throwIfNoEntry: false }) ?? null]));
    `;
    const dir = join(bench.base, 'user');
    mkdirSync(dir);
    chmodSync(bench.base, 0o755);
    const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
    if (user.uid !== undefined) chownSync(dir, user.uid, user.gid);
    const args = ['--input-type=module', '-e', script];
    const done = spawnSync(process.execPath, args, { cwd: dir, encoding: 'utf8', env: {}, ...user });
    expect(done.stderr).toBe('');
    expect(JSON.parse(done.stdout)).toEqual([[0o500, 0o500, 0o500, 0o500], 'done', null]);
  });

  it('SEC-2.3: what it cannot take is renamed in the project, and can be restored and removed', async () => {
    writeFileSync(join(bench.base, 'state'), '');
    const file = await setAside('echo x >.envrc');
    expect(bench.names()).toEqual(['.envrc.quarantined']);
    await restore(file.id);
    expect(bench.names()).toEqual(['.envrc']);
    const dir = await setAside('mkdir -p d/.vscode/x; rm -f .envrc');
    await expect(remove(dir.id)).rejects.toMatchObject({
      code: 'CONFLICT',
      remedy: `Remove it yourself: \`rm -r ${join(bench.workspace, dir.moved)}\`.`,
    });
    bench.sh(`rm -r ${join(bench.workspace, dir.moved)}`);
    const link = await setAside('ln -s d .claude');
    await remove(link.id);
    expect([bench.names(), await list()]).toEqual([['d'], []]);
  });

  it('SEC-2.3: what is on another file system is renamed in the project, and can be restored', () => {
    const script = `
      import { mkdirSync, writeFileSync, readdirSync } from 'node:fs';
      const { GuardThread } = await import(${JSON.stringify(import.meta.resolve('#src/guard/client/guard-thread.js'))});
      const { WorkspaceGuard } = await import(${JSON.stringify(import.meta.resolve('#src/guard/client/workspace-guard.js'))});
      const { systemClock } = await import(${JSON.stringify(import.meta.resolve('#src/core/clock.js'))});
      const { silentLogger } = await import(${JSON.stringify(import.meta.resolve('#src/core/log.js'))});
      const workspace = process.cwd();
      const person = { home: '/nonexistent', gitConfigs: [] };
      const thread = new GuardThread(silentLogger, systemClock);
      const guard = new WorkspaceGuard(thread, { workspace, deny: [], person, ledgerFile: workspace + '/../m/ledger.json', ownDirectories: [] });
      const watch = guard.begin(await guard.protection());
      mkdirSync('.vscode'); writeFileSync('.envrc', 'x');
      await guard.finish(watch);
      await guard.settled();
      const names = readdirSync('.').sort();
      const { items } = await guard.quarantine({ kind: 'list', which: null });
      for (const { id } of items) await guard.quarantine({ kind: 'restore', which: id });
      console.log(JSON.stringify([names, readdirSync('.').sort()]));
      await thread.stop();
    `;
    mkdirSync(join(bench.base, 'm'));
    const args = ['-Urm', 'sh', '-c', 'mount -t tmpfs none ../m && exec "$@"', 'sh', process.execPath];
    const done = spawnSync('unshare', [...args, '--input-type=module', '-e', script], {
      cwd: bench.workspace,
      encoding: 'utf8',
      env: { PATH: '/usr/sbin:/usr/bin:/bin' },
    });
    if (done.status !== 0 && /unshare|mount:/.test(done.stderr)) {
      console.warn(`not run: a store on another file system, for want of user namespaces: ${done.stderr}`);
      return;
    }
    expect(done.stderr).toBe('');
    const moved = (name: string) => expect.stringMatching(new RegExp(`^\\${name}\\.quarantined-[0-9a-f]{8}$`));
    expect(JSON.parse(done.stdout)).toEqual([
      [moved('.envrc'), moved('.vscode')],
      ['.envrc', '.vscode'],
    ]);
  });

  it('SEC-2.3: what an older version renamed in the project is listed, restored and removed', async () => {
    bench.sh('mkdir .vscode; echo x >.vscode/a; chmod 0 .vscode; echo x >.envrc');
    const ledger = bench.ledger();
    for (const name of ['.envrc', '.vscode']) {
      const path = toRaw(join(bench.workspace, name));
      ledger.note(path, moveAside(path) ?? '', 'why', null);
    }
    ledger.flush();
    guard = bench.guard();
    const [envrc, vscode] = await list();
    expect([envrc?.path, envrc?.moved]).toEqual(['.envrc', `.envrc.quarantined-${envrc?.id}`]);
    await restore(envrc?.id ?? '');
    await remove(vscode?.id ?? '');
    expect([bench.names(), bench.stored(), readdirSync(store), await list()]).toEqual([['.envrc'], [], [], []]);
  });
});

describe('removing what was set aside', () => {
  it.each([
    ['a file', 'echo x >.envrc'],
    ['a link', 'ln -s ../outside .claude'],
    [
      'a directory with links and closed directories',
      'mkdir -p .vscode/a/b; ln -s ../../outside .vscode/a/l; chmod 0 .vscode/a/b .vscode/a .vscode',
    ],
    ['a directory of odd names', "mkdir -p .idea/$'\\377\\n'; touch .idea/$'\\377\\n'/$'\\376'; mkfifo .idea/p"],
    [
      'a tree deeper than the longest path',
      `mkdir .idea; cd .idea; for i in {1..40}; do mkdir ${'d'.repeat(200)}; cd ${'d'.repeat(200)}; touch f; done`,
    ],
  ])('SEC-2.3: deletes %s for good, and nothing that it leads to', async (_title, script) => {
    bench.sh('mkdir ../outside; echo mine >../outside/f');
    const { id, path } = await setAside(script);
    expect((await remove(id)).items).toMatchObject([{ id, path }]);
    expect([await list(), readdirSync(store), bench.names()]).toEqual([[], [], []]);
    expect(bench.sh('cat ../outside/f')).toBe('mine\n');
    await expect(restore(id)).rejects.toMatchObject({ code: 'PATH_NOT_FOUND' });
  });

  it('SEC-2.3: is possible while a command runs', async () => {
    const { id } = await setAside('mkdir -p .vscode/a; touch .vscode/a/b');
    const watch = guard.begin(await guard.protection());
    await remove(id);
    await guard.finish(watch);
    expect(readdirSync(store)).toEqual([]);
  });

  it('SEC-2.3: is refused for what was only reported, which stays', async () => {
    const { id, path, moved } = await setAside('echo 1 >.strangerc');
    expect(moved).toBe(path);
    await expect(remove(id)).rejects.toMatchObject({
      code: 'CONFLICT',
      remedy: expect.stringContaining(`accept ${id}`),
    });
    expect(bench.sh('cat .strangerc')).toBe('1\n');
  });
});
