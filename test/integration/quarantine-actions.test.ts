import { closeSync, openSync, readdirSync, writeSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toRaw } from '#src/fs/raw-path.js';
import type { QuarantinedItem } from '#src/guard/contract/quarantine.js';
import { putBack } from '#src/guard/quarantine/set-aside.js';
import { type Bench, type LocalGuard, letTimePass, openBench, pathsOf } from '../helpers/workspace-bench.ts';

let bench: Bench;
let guard: LocalGuard;
beforeEach(() => {
  bench = openBench();
  guard = bench.guard();
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

const accept = (which: string, sha256: string | null) =>
  guard.quarantine({ kind: 'accept', which, sha256: sha256 ?? '' });
const restore = (which: string) => guard.quarantine({ kind: 'restore', which });
const code = (expected: string) => expect.objectContaining({ code: expected });

describe('set-aside files', () => {
  it('SEC-2.3: are listed with path, new name, reason, kind, size and hash, unless they are gone', async () => {
    const item = await setAside('mkdir sub; echo hello >sub/.envrc');
    expect(item).toMatchObject({
      path: 'sub/.envrc',
      moved: join(bench.base, 'state/ledger', item.id, '.envrc'),
      reason: 'a program on the host would run or trust it',
      kind: 'file',
      sizeBytes: 6,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      noHashBecause: null,
      preview: 'hello',
    });
    expect((await guard.quarantine({ kind: 'list', which: item.id })).items).toEqual([item]);
    bench.sh(`rm ${item.moved}`);
    expect(await list()).toEqual([]);
    await expect(restore(item.id)).rejects.toThrow(code('PATH_NOT_FOUND'));
  });

  it('SEC-2.3: a report names the id by which a person restores each', async () => {
    const watch = guard.begin(await guard.protection());
    bench.sh('mkdir .vscode; echo x >.envrc');
    const { quarantined } = await guard.finish(watch);
    expect(quarantined.map(({ path }) => path)).toEqual(['.envrc', '.vscode']);
    const ids = quarantined.map(({ path, id }) => `${id}/${path}`);
    expect(bench.stored().map((path) => relative(join(bench.base, 'state/ledger'), path))).toEqual(ids);
    expect(bench.names()).toEqual([]);
  });

  it.each([
    ['a file', 'echo x >d/.envrc'],
    ['a directory', 'mkdir -p d/.vscode/x; echo x >d/.vscode/x/f'],
    ['a link', 'ln -s /tmp/x d/.claude'],
  ])('SEC-2.3: %s is restored and left alone by the next runs, until one changes it', async (_title, script) => {
    bench.sh('mkdir d');
    const { id, path } = await setAside(script);
    expect((await restore(id)).items).toMatchObject([{ id, path, moved: path }]);
    expect(await list()).toEqual([]);
    for (const other of ['true', 'echo y >d/fine']) expect((await bench.run(guard, other)).quarantined).toEqual([]);
    expect(readdirSync(join(bench.workspace, dirname(path)))).toContain(basename(path));
    expect((await bench.run(guard, `rm -r ${path}; mkdir ${path}; echo z >${path}/z`)).quarantined).toEqual([path]);
  });

  it('SEC-2.3: a restored file stays even if times prove nothing and no mount protects it', async () => {
    let monotonicMs = 0;
    guard = bench.guard([], { now: () => Date.now(), monotonic: () => monotonicMs });
    const { id } = await setAside('mkdir -p node_modules/p; echo x >node_modules/p/.mcp.json');
    await restore(id);
    const watch = guard.begin(await guard.protection());
    bench.sh('echo y >node_modules/p/other');
    monotonicMs += 60_000;
    expect(pathsOf(await guard.finish(watch)).quarantined).toEqual([]);
    expect(bench.names('node_modules/p')).toEqual(['.mcp.json', 'other']);
  });

  it('SEC-2.3: nothing is put back over a name that exists', async () => {
    for (const [make, again] of [
      ['echo x >.envrc', 'echo mine >.envrc'],
      ['mkdir .vscode; : >.vscode/a', 'mkdir .vscode; : >.vscode/b'],
      ['echo x >.idea', 'ln -s nowhere .idea'],
    ] as const) {
      const { id, path, moved, sha256 } = await setAside(make);
      bench.sh(again);
      const before = bench.sh('find . | sort');
      await expect(restore(id)).rejects.toThrow(code('CONFLICT'));
      await expect(accept(id, sha256)).rejects.toThrow(code('CONFLICT'));
      expect(bench.sh('find . | sort')).toBe(before);
      await expect(guard.quarantine({ kind: 'revoke', which: path })).rejects.toThrow(code('PATH_NOT_FOUND'));
      bench.sh(`rm -r ${path} ${moved}`);
    }
  });

  it('SEC-2.3: nothing is restored while a command runs, because the command could change it unseen', async () => {
    const { id } = await setAside('echo x >.envrc');
    const watch = guard.begin(await guard.protection());
    await expect(restore(id)).rejects.toThrow(code('CONFLICT'));
    expect([bench.names(), bench.stored().length]).toEqual([[], 1]);
    await guard.finish(watch);
    await restore(id);
    expect([bench.names(), bench.stored()]).toEqual([['.envrc'], []]);
  });

  it.each([
    ['a file', 'echo x >.envrc', (moved: string) => `echo evil >${moved}`],
    ['a directory', 'mkdir .vscode; echo x >.vscode/a', (moved: string) => `echo evil >${moved}/b`],
    ['a link', 'ln -s a .claude', (moved: string) => `ln -sfn b ${moved}`],
    ['a large file', 'head -c 2000000 /dev/zero >.bashrc', (moved: string) => `echo evil >>${moved}`],
  ])(
    'SEC-2.3: of %s only what was set aside, or what a list showed since, is restored',
    async (_title, script, change) => {
      const watch = guard.begin(await guard.protection());
      bench.sh(script);
      const [{ id = '', path = '' } = {}] = (await guard.finish(watch)).quarantined;
      const [moved = ''] = bench.stored();
      await bench.run(guard, change(moved));
      // A list that nobody sees binds nothing.
      await guard.quarantine({ kind: 'list', which: null, isShown: false });
      await expect(restore(id)).rejects.toMatchObject({
        code: 'CONFLICT',
        message: expect.stringContaining('its content changed'),
        remedy: expect.stringContaining('ctxd quarantine list'),
      });
      expect([bench.names(), bench.stored()]).toEqual([[], [moved]]);
      await list();
      await bench.run(guard, change(moved).replaceAll('evil', 'worse').replace(/ b /, ' c '));
      await expect(restore(id)).rejects.toThrow(code('CONFLICT'));
      await list();
      await restore(id);
      expect(bench.names()).toEqual([path]);
      expect((await bench.run(guard, 'true')).quarantined).toEqual([]);
    },
  );

  it('SEC-2.3: a process that has a set-aside file open cannot change what is put back', async () => {
    for (const putBackBy of [restore, (id: string) => list().then(([item]) => accept(id, item?.sha256 ?? ''))]) {
      const { id, moved, path } = await setAside('echo good >.envrc; chmod 640 .envrc');
      const fd = openSync(moved, 'r+');
      await putBackBy(id);
      writeSync(fd, 'evil');
      closeSync(fd);
      expect(bench.sh(`cat ${path}; stat -c %a ${path}; rm ${path}`)).toBe('good\n640\n');
      expect(bench.names()).toEqual([]);
    }
  });

  it('SEC-2.3: nothing is put back through a link that replaced a directory, but when the directory is made again', async () => {
    bench.sh('mkdir -p d ../outside');
    const { id, moved, sha256 } = await setAside('echo x >d/.envrc');
    bench.sh('rmdir d; ln -s ../outside d');
    for (const put of [() => restore(id), () => accept(id, sha256)]) {
      await expect(put()).rejects.toMatchObject({
        code: 'PATH_NOT_FOUND',
        remedy: 'Make the directory of d/.envrc again, then repeat this.',
      });
    }
    expect([bench.sh('ls -A ../outside'), bench.stored()]).toEqual(['', [moved]]);
    bench.sh('rm d; mkdir d');
    await restore(id);
    expect([bench.names('d'), readdirSync(join(bench.base, 'state/ledger'))]).toEqual([['.envrc'], []]);
  });

  it('are put back in a directory that a tool closed, which keeps its mode', () => {
    bench.sh('mkdir r; echo x >r/a; mkdir r/d; chmod 500 r');
    const at = (name: string) => toRaw(join(bench.workspace, name));
    expect(putBack(at('r/a'), at('r/b'))).toBe('done');
    expect(putBack(at('r/d'), at('r/b'))).toBe('taken');
    expect(putBack(at('r/d'), at('r/e'))).toBe('done');
    expect([putBack(at('r/none'), at('r/f')), putBack(at('none/a'), at('none/b'))]).toEqual(['gone', 'gone']);
    expect(bench.sh('cat r/b; ls -A r; stat -c %a%h r r/b')).toBe('x\nb\ne\n5003\n6441\n');
  });
});

describe('accepted content', () => {
  it('SEC-2.3: stays if a later run makes it again at its path, even after a restart; other content does not', async () => {
    const make = 'mkdir -p sub/.vscode; echo one >sub/.vscode/settings.json';
    const { id, sha256 } = await setAside(make);
    expect(await accept(id, sha256)).toMatchObject({ items: [{ id }], accepted: [{ path: 'sub/.vscode', sha256 }] });
    expect(bench.sh('cat sub/.vscode/settings.json')).toBe('one\n');
    expect((await bench.run(guard, 'rm -r sub/.vscode')).quarantined).toEqual([]);
    expect((await bench.run(guard, make)).quarantined).toEqual([]);
    guard = bench.guard();
    bench.sh('rm -r sub/.vscode');
    letTimePass();
    expect((await bench.run(guard, make)).quarantined).toEqual([]);
    const another = `rm -r sub/.vscode; ${make.replace('one', 'two')}`;
    expect((await bench.run(guard, another)).quarantined).toEqual(['sub/.vscode']);
    expect((await bench.run(guard, `mkdir -p other; ${make.replaceAll('sub', 'other')}`)).quarantined).toEqual([
      'other/.vscode',
    ]);
    expect((await bench.run(guard, make)).quarantined).toEqual([]);
  });

  it('SEC-2.3: is refused if a run changed it since it was shown', async () => {
    const { id, sha256 } = await setAside('echo good >.envrc');
    await bench.run(guard, `echo evil >${bench.stored()[0]}`);
    await expect(accept(id, sha256)).rejects.toThrow(code('CONFLICT'));
    expect([bench.names(), bench.stored().length]).toEqual([[], 1]);
    expect((await guard.quarantine({ kind: 'list', which: null })).accepted).toEqual([]);
    const [now] = await list();
    await accept(id, now?.sha256 ?? '');
    expect(bench.sh('cat .envrc')).toBe('evil\n');
  });

  it('SEC-2.3: may be put back while a command runs, and is compared again when the command has ended', async () => {
    for (const [during, left] of [
      ['echo evil >.envrc', ['.envrc']],
      ['true', []],
    ] as const) {
      const { id, sha256 } = await setAside('echo good >.envrc');
      const watch = guard.begin(await guard.protection());
      await accept(id, sha256);
      bench.sh(during);
      expect(pathsOf(await guard.finish(watch)).quarantined).toEqual(left);
      bench.sh('rm -rf .envrc ../state/ledger');
      await guard.quarantine({ kind: 'revoke', which: '.envrc' });
    }
  });

  it('SEC-2.3: is remembered if the same content is back at its place already', async () => {
    const { id, sha256, path } = await setAside('echo good >.envrc');
    bench.sh('echo good >.envrc');
    expect(await accept(id, sha256)).toMatchObject({ items: [{ id, moved: path }], accepted: [{ path }] });
    expect([await list(), bench.stored()]).toEqual([[], []]);
    expect((await bench.run(guard, 'rm .envrc; echo good >.envrc')).quarantined).toEqual([]);
  });

  it('SEC-2.3: is named by the beginning of its hash, unless several hashes begin with it', async () => {
    const { sha256 } = await setAside('echo good >.envrc');
    const start = sha256?.slice(0, 10) ?? '';
    await bench.run(guard, 'mkdir a; echo good >a/.envrc');
    await expect(accept(start, sha256)).rejects.toThrow(code('CONFLICT'));
    bench.sh('rm -r ../state/ledger/$(cd ../state/ledger; ls -tr | head -1)');
    await accept(start, sha256);
    expect(bench.names('a')).toEqual(['.envrc']);
    for (const unknown of ['0000000', 'ffffffff', '.envrc', '']) {
      await expect(accept(unknown, sha256)).rejects.toThrow(code('PATH_NOT_FOUND'));
    }
  });

  it('SEC-2.3: is revoked by path or hash; the file stays, and is set aside if a run makes it again', async () => {
    for (const name of ['path', 'hash'] as const) {
      const { id, sha256 } = await setAside('echo good >.envrc');
      await accept(id, sha256);
      const which = name === 'path' ? '.envrc' : (sha256?.slice(0, 8) ?? '');
      expect((await guard.quarantine({ kind: 'revoke', which })).accepted).toMatchObject([{ path: '.envrc', sha256 }]);
      letTimePass();
      expect((await bench.run(guard, 'true')).quarantined).toEqual([]);
      expect((await bench.run(guard, 'rm .envrc; echo good >.envrc')).quarantined).toEqual(['.envrc']);
      bench.sh('rm -r ../state/ledger');
    }
  });

  it('SEC-2.3: is refused for content without a hash: a directory with a pipe', async () => {
    const { id, sha256, noHashBecause } = await setAside('mkdir .vscode; mkfifo .vscode/a');
    expect([sha256, noHashBecause]).toEqual([null, expect.stringContaining('neither a file')]);
    await expect(accept(id, 'a'.repeat(64))).rejects.toThrow(code('CONFLICT'));
    await restore(id);
    expect(bench.names()).toEqual(['.vscode']);
  });
});
