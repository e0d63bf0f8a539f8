import { existsSync } from 'node:fs';
import { chmod, mkdir, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CTXD, type Finished, type Installation, install } from '../helpers/installation.ts';

/** An account that most systems have, with a home that it owns on most of them. */
const MAN = { uid: 6, home: '/var/cache/man' };

let machine: Installation;
/** The home of the person, with tools that no package manager put there. */
let home: string;

const allow = (...words: string[]): Promise<Finished> =>
  machine.run(CTXD, ['allow', ...words], { env: { PATH: `${home}/tools/bin:${process.env.PATH}` } });
const init = (...words: string[]): Promise<Finished> =>
  machine.run(CTXD, ['init', ...words], { env: { PATH: `${home}/tools/bin:${process.env.PATH}` } });
const bash = async (command: string) => (await machine.ask('safe_bash', { command })).data;

describe('what a person allows outside a project', () => {
  beforeAll(async () => {
    machine = await install();
    home = await realpath(dirname(machine.home));
    await chmod(home, 0o755);
    await mkdir(join(home, 'tools', 'bin'), { recursive: true });
    await writeFile(join(home, 'tools', 'bin', 'mytool'), '#!/bin/sh\necho ran\n', { mode: 0o755 });
  });
  afterAll(() => machine.remove());

  it('names toolchains and how to allow them, and mounts nothing, if nobody can be asked', async () => {
    const { code, stdout, stderr } = await init();
    expect(code).toBe(0);
    expect(stdout).toContain('ctxd allow toolchains');
    expect(stderr).toContain(join(home, 'tools'));
    const answer = await machine.ask('safe_bash', { command: 'mytool' });
    expect(answer.data.exit_code).toBe(127);
    expect(answer.meta.denied).toMatchObject([
      { kind: 'program', path: join(home, 'tools/bin/mytool'), how_to_allow: expect.stringContaining('ctxd allow') },
    ]);
    const doctor = await machine.run(CTXD, ['doctor', '--json'], { env: { PATH: `${home}/tools/bin:/usr/bin` } });
    const checks: { name: string; status: string; remedy: string }[] = JSON.parse(doctor.stdout).checks;
    expect(checks.find(({ name }) => name === 'toolchains')).toMatchObject({
      status: 'warn',
      remedy: expect.stringContaining('ctxd allow toolchains'),
    });
    expect(await init('--no-toolchains', '--no-network')).toMatchObject({
      code: 0,
      stdout: expect.not.stringContaining('/usr'),
    });
    expect(await bash('mytool')).toMatchObject({ exit_code: 127 });
    expect(await allow('toolchains')).toMatchObject({ code: 1, stderr: expect.stringContaining('--yes') });
  });

  it('mounts toolchains after a yes, in every project, also after a restart, until the yes is withdrawn', async () => {
    expect(await init('--yes')).toMatchObject({ code: 0, stdout: expect.stringContaining('Commands can run') });
    expect(await bash('mytool; which mytool')).toMatchObject({ stdout: `ran\n${home}/tools/bin/mytool\n` });
    expect(await machine.run(CTXD, ['server', 'restart'])).toMatchObject({ code: 0 });
    expect(await bash('mytool')).toMatchObject({ stdout: 'ran\n' });
    const { stdout } = await allow('list');
    expect(stdout).toContain(`${home}/tools/bin`);
    const recorded = async () => {
      const tail = await machine.run(CTXD, ['audit', 'tail', '--lines', '500', '--json']);
      return tail.stdout.split('"allow toolchains"').length - 1;
    };
    const before = await recorded();
    expect(before).toBeGreaterThan(0);
    expect(await init('--yes')).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing changed') });
    expect(await recorded()).toBe(before);
    expect(await allow('remove', join(home, 'tools'))).toMatchObject({ code: 0 });
    expect(await bash('mytool')).toMatchObject({ exit_code: 127 });
  });

  it('creates an allowed directory, lets commands write it, and stops when it is removed', async () => {
    const place = join(home, 'wt');
    expect(await bash(`mkdir ${place}`)).toMatchObject({ exit_code: 1 });
    expect(await allow('path', place)).toMatchObject({ code: 0, stdout: expect.stringContaining(`Created ${place}`) });
    expect(await bash(`echo hi >${place}/file`)).toMatchObject({ exit_code: 0 });
    expect(existsSync(join(place, 'file'))).toBe(true);
    expect((await allow('list')).stdout).toContain(place);
    expect(await allow('remove', place)).toMatchObject({ code: 0 });
    expect(await bash(`echo hi >${place}/file`)).toMatchObject({ exit_code: 1 });
    expect(await allow('remove', place)).toMatchObject({ code: 1 });
  });

  it('lets no toolchain lie in a directory that commands write, and allows no directory around a toolchain', async () => {
    const place = join(home, 'wt2');
    expect(await allow('path', place)).toMatchObject({ code: 0 });
    await mkdir(join(place, 'bin'));
    await writeFile(join(place, 'bin', 'evil'), '#!/bin/sh\n', { mode: 0o755 });
    const env = { PATH: `${place}/bin:${process.env.PATH}` };
    const refused = await machine.run(CTXD, ['allow', 'toolchains', '--yes'], { env });
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(`can write ${place}`) });
    expect((await allow('list')).stdout).not.toContain(`${place}/bin`);
    expect(await allow('remove', place)).toMatchObject({ code: 0 });
    expect(await machine.run(CTXD, ['allow', 'toolchains', '--yes'], { env })).toMatchObject({ code: 0 });
    expect(await allow('path', place)).toMatchObject({ code: 2, stderr: expect.stringContaining('overlaps') });
    // Toolchains are for every project: they outlive this one, which its end says.
    const ended = join(home, 'ended');
    await mkdir(ended);
    expect(await machine.run(CTXD, ['init', '--no-toolchains', '--no-network', ended])).toMatchObject({ code: 0 });
    const { toolchains } = JSON.parse((await allow('list', '--json')).stdout);
    const names = toolchains.map(({ name }: { name: string }) => name).join(', ');
    const stays = `Commands of every project can still run ${names}. To take one back: ctxd allow remove NAME`;
    expect((await machine.run(CTXD, ['init', '--uninstall', ended])).stdout).toContain(stays);
    for (const { name } of toolchains) await allow('remove', name);
    expect((await machine.run(CTXD, ['init', '--uninstall', ended])).stdout).not.toContain('can still run');
  });

  it('refuses the root, the home and what is around it, contextd, the project, the system, keys and settings', async () => {
    await mkdir(join(home, '.ssh'), { recursive: true });
    const created = [join(machine.home, 'new'), join(machine.project, 'new'), join(home, '.ssh', 'new')];
    const places = [
      '/',
      home,
      dirname(home),
      machine.home,
      machine.project,
      '/etc',
      '/srv',
      '/var/lib',
      '/var/lib/dpkg',
      join(home, '.config'),
      join(home, 'missing', 'b'),
      join(home, 'tools/bin/mytool'),
      ...created,
    ];
    const answers = await Promise.all(places.map(async (place) => ({ place, ...(await allow('path', place)) })));
    expect(answers.filter(({ code }) => code === 0)).toEqual([]);
    for (const { stderr } of answers) expect(stderr).toMatch(/^ctxd: .+/);
    expect(created.filter((place) => existsSync(place))).toEqual([]);
    expect((await allow('list')).stdout).toContain('  none');
  });

  it('issue 30.3 allows nothing that overlaps another project, and no allowance outlives a project that came later', async () => {
    const shop = join(home, 'shop');
    await mkdir(join(shop, 'packages', 'a'), { recursive: true });
    expect(await allow('path', shop)).toMatchObject({ code: 0 });
    expect(await bash(`echo 1 >${shop}/before`)).toMatchObject({ exit_code: 0 });
    const inShop = (...words: string[]) => machine.run(CTXD, words, { cwd: shop });
    expect(await inShop('init', '--no-toolchains', '--no-network')).toMatchObject({ code: 0 });
    expect(await bash(`echo 1 >${shop}/after`)).toMatchObject({ exit_code: 1 });
    expect(existsSync(join(shop, 'after'))).toBe(false);
    expect((await allow('list')).stdout).not.toContain(shop);
    const into = [shop, join(shop, 'packages'), join(shop, 'packages', 'new')];
    for (const place of into) {
      expect(await allow('path', place)).toMatchObject({ code: 2, stderr: expect.stringContaining('project') });
    }
    expect(existsSync(join(shop, 'packages', 'new'))).toBe(false);
    const group = join(home, 'group');
    await mkdir(join(group, 'part'), { recursive: true });
    expect(await machine.run(CTXD, ['init', join(group, 'part')])).toMatchObject({ code: 0 });
    expect(await allow('path', group)).toMatchObject({ code: 2, stderr: expect.stringContaining(join(group, 'part')) });
    expect(await inShop('init', '--uninstall')).toMatchObject({ code: 0 });
    expect(await bash(`echo 1 >${shop}/after`)).toMatchObject({ exit_code: 0 });
    expect(await allow('remove', shop)).toMatchObject({ code: 0 });
  });

  it('issue 30.3 makes no project around or inside another one, and its remedy works', async () => {
    const top = join(home, 'mono');
    const part = join(top, 'packages', 'a');
    await mkdir(join(part, 'deeper'), { recursive: true });
    const initAt = (...words: string[]) => machine.run(CTXD, ['init', ...words]);
    expect(await initAt(part)).toMatchObject({ code: 0 });
    for (const overlapping of [top, join(top, 'packages'), join(part, 'deeper')]) {
      const refused = await initAt(overlapping);
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(`ctxd init --uninstall ${part}`) });
      expect(existsSync(join(overlapping, '.claude'))).toBe(false);
    }
    // A project that was set up before can be set up again.
    expect(await initAt(part)).toMatchObject({ code: 0 });
    expect(await initAt('--uninstall', part)).toMatchObject({ code: 0 });
    expect(await initAt(top)).toMatchObject({ code: 0 });
    // A project whose directory is gone is in nobody's way.
    const gone = join(home, 'group2', 'gone');
    await mkdir(gone, { recursive: true });
    expect(await initAt(gone)).toMatchObject({ code: 0 });
    await rm(gone, { recursive: true });
    expect(await initAt(dirname(gone))).toMatchObject({ code: 0 });
  });

  it('issue 30.3 names a program of the PATH with which contextd was started, not only of the PATH that init saw', async () => {
    const later = join(home, 'later-bin');
    await mkdir(later);
    await writeFile(join(later, 'latertool'), '#!/bin/sh\n', { mode: 0o755 });
    const env = { PATH: `${machine.environment.PATH ?? '/usr/bin:/bin'}:${later}` };
    expect(await machine.run(CTXD, ['server', 'restart'], { env })).toMatchObject({ code: 0 });
    const { data, meta } = await machine.ask('safe_bash', { command: 'latertool' });
    expect(data).toMatchObject({ exit_code: 127 });
    expect(meta.denied).toMatchObject([{ kind: 'program', path: join(later, 'latertool') }]);
  });

  it('takes the real path of a link, and refuses what belongs to another user', async () => {
    await mkdir(join(home, 'real'));
    await symlink('real', join(home, 'link'));
    expect((await allow('path', join(home, 'link'))).stdout).toContain(join(home, 'real'));
    expect((await allow('remove', join(home, 'link'))).code).toBe(0);
    if (process.getuid?.() !== 0) return;
    await rm(join(home, 'link'));
    await symlink('/var/lib', join(home, 'link'));
    expect((await allow('path', join(home, 'link'))).code).not.toBe(0);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'as root creates the directory as the owner of the project (only root can)',
    async () => {
      const other = await install({ owner: MAN.uid });
      try {
        const parent = await realpath(dirname(other.home));
        await chmod(parent, 0o777);
        const place = join(parent, 'wt');
        expect(await other.run(CTXD, ['allow', 'path', place])).toMatchObject({ code: 0 });
        expect((await stat(place)).uid).toBe(MAN.uid);
        const foreign = join(parent, 'foreign');
        await mkdir(foreign);
        const refused = await other.run(CTXD, ['allow', 'path', foreign]);
        expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('belongs to uid 0') });
        if (!existsSync(MAN.home)) return;
        const ofOwner = await other.run(CTXD, ['allow', 'path', MAN.home]);
        expect(ofOwner).toMatchObject({ code: 2, stderr: expect.stringContaining('home directory') });
      } finally {
        await other.remove();
      }
    },
  );
});
