import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../helpers/installation.ts';
import { createFixture } from '../unit/cli/init/tree.ts';

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
