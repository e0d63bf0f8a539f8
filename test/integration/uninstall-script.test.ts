import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../helpers/installation.ts';
import { createFixture } from '../unit/cli/init/tree.ts';

it('install.sh --uninstall removes the links, the manual page and the directories that it made, if nothing else is in them', () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'uninstall-')));
  try {
    const [clone, prefix] = [join(base, 'clone'), join(base, 'there/own')];
    for (const path of [join(clone, 'bin'), join(clone, 'share/man/man1'), join(base, 'there')])
      mkdirSync(path, { recursive: true });
    copyFileSync(join(ROOT, 'install.sh'), join(clone, 'install.sh'));
    // What it does after the build, without the build.
    const script = readFileSync(join(ROOT, 'install.sh'), 'utf8');
    const parts = [/^made=.*$/m, /^make_directory\(\) \{.*?^\}$/ms].map((part) => part.exec(script)?.[0] ?? '');
    const steps = `root=${clone}\n${parts.join('\n')}\nmake_directory ${prefix}/bin\nmake_directory ${prefix}/share/man/man1`;
    execFileSync('sh', ['-eu', '-c', steps]);
    symlinkSync(join(clone, 'bin/ctxd'), join(prefix, 'bin/ctxd'));
    symlinkSync(join(clone, 'share/man/man1/ctxd.1'), join(prefix, 'share/man/man1/ctxd.1'));
    const uninstall = () =>
      execFileSync('sh', [join(clone, 'install.sh'), '--uninstall', '--prefix', prefix], {
        env: { PATH: process.env.PATH, HOME: base },
        encoding: 'utf8',
      });
    writeFileSync(join(prefix, 'bin/mine'), '');
    expect(uninstall()).toContain(`Removed ${prefix}/share\n`);
    expect(readdirSync(prefix)).toEqual(['bin']);
    rmSync(join(prefix, 'bin/mine'));
    execFileSync('sh', ['-eu', '-c', `rmdir ${prefix}/bin ${prefix}; ${steps}`]);
    uninstall();
    expect(readdirSync(join(base, 'there'))).toEqual([]);
    expect(readdirSync(clone).sort()).toEqual(['bin', 'install.sh']);
    expect(readdirSync(join(clone, 'bin'))).toEqual([]);
  } finally {
    rmSync(base, { recursive: true });
  }
});

it('install.sh --uninstall removes the links from every directory that it was told to put them into', () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'uninstall-')));
  try {
    const clone = join(base, 'clone');
    mkdirSync(join(clone, 'bin'), { recursive: true });
    copyFileSync(join(ROOT, 'install.sh'), join(clone, 'install.sh'));
    const script = readFileSync(join(ROOT, 'install.sh'), 'utf8');
    const variables = [/^made=.*$/m, /^linked=.*$/m].map((part) => part.exec(script)?.[0] ?? '');
    const functions = ['say', 'fail', 'is_ours'].map(
      (name) => new RegExp(`^${name}\\(\\) .*$`, 'm').exec(script)?.[0] ?? '',
    );
    const link = /^for name in ctxd contextd contextd-proxy; do.*?^grep [^\n]*$/ms.exec(script)?.[0] ?? '';
    const places = ['one/bin', 'two two/bin'].map((place) => join(base, place));
    for (const bindir of [...places, ...places]) {
      mkdirSync(bindir, { recursive: true });
      const steps = [`root=${clone}`, `bindir='${bindir}'`, ...variables, ...functions, link].join('\n');
      execFileSync('sh', ['-eu', '-c', steps]);
    }
    for (const bindir of places) expect(readdirSync(bindir).sort()).toEqual(['contextd', 'contextd-proxy', 'ctxd']);
    execFileSync('sh', [join(clone, 'install.sh'), '--uninstall'], { env: { PATH: process.env.PATH, HOME: base } });
    for (const bindir of places) expect(readdirSync(bindir)).toEqual([]);
    expect(readdirSync(join(clone, 'bin'))).toEqual([]);
  } finally {
    rmSync(base, { recursive: true });
  }
});

it('install.sh --uninstall lists what it leaves: settings, records, each project that is set up, and the source', async () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'uninstall-')));
  const project = await createFixture();
  try {
    await project.init();
    const home = join(base, 'home');
    const clone = join(base, 'clone');
    const state = dirname(project.projectsDir);
    for (const path of [clone, join(home, '.config/contextd')]) mkdirSync(path, { recursive: true });
    copyFileSync(join(ROOT, 'install.sh'), join(clone, 'install.sh'));
    const run = (env: Record<string, string>) =>
      execFileSync('sh', [join(clone, 'install.sh'), '--uninstall', '--prefix', join(base, 'bin')], {
        env: { PATH: process.env.PATH, HOME: home, ...env },
        encoding: 'utf8',
      });
    const printed = run({ CONTEXTD_HOME: dirname(state) });
    expect(printed).toContain(`  ${dirname(state)}  (settings, data and records)\n`);
    expect(printed).toContain(
      `  ${project.root}  (files of ctxd init; to remove them: ./install.sh, then ctxd init --uninstall`,
    );
    expect(printed).toContain(`  ${clone}  (the source,`);
    const other = run({});
    expect(other).toContain(`  ${home}/.config/contextd  (settings)\n`);
    expect(other).not.toContain(`${home}/.local`);
  } finally {
    await project.remove();
    rmSync(base, { recursive: true });
  }
});
