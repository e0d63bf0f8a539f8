import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CTXD, type Finished, type Installation, install } from '../helpers/installation.ts';

interface State {
  is_on: boolean;
  rules: { pattern: string; group: string; verdict: string; given_by: string }[];
}

describe('ctxd network', () => {
  let at: Installation;
  let project: string;

  beforeAll(async () => {
    at = await install({ init: false, warm: true });
    project = realpathSync(at.project);
    const resolved = (host: string) => ({ resolved: `https://${host}/a.tgz` });
    const packages = { a: resolved('registry.npmjs.org'), b: resolved('npm.odd.example') };
    writeFileSync(join(project, 'package-lock.json'), JSON.stringify({ packages }));
  });
  afterAll(() => at.remove());

  const ctxd = (...words: string[]): Promise<Finished> => at.run(CTXD, words, { cwd: project });
  const list = async (...words: string[]): Promise<State> =>
    JSON.parse((await ctxd('network', 'list', ...words, '--json')).stdout);
  const patterns = async (): Promise<string[]> => (await list()).rules.map(({ pattern }) => pattern);

  it('allows nothing at init without a yes, and says what the project names', async () => {
    const { code, stdout } = await ctxd('init', '--no-toolchains');
    expect(code).toBe(0);
    expect(stdout).toContain(
      'Commands cannot reach (allow them: ctxd network allow npm):\n  npm (package-lock.json)\n',
    );
    expect(stdout).toContain('The project names other hosts.');
    expect(stdout).toContain('\n  npm.odd.example (package-lock.json)\n');
    expect(await patterns()).toEqual([]);
  });

  it('turns on the groups at init with a yes, but never a host that only the repository names', async () => {
    const { stdout } = await ctxd('init', '--no-toolchains', '--yes');
    expect(stdout).toContain('Commands can reach:\n  npm (package-lock.json)\n');
    expect(stdout).toContain('\n  npm.odd.example (package-lock.json)\n');
    expect(await patterns()).toEqual(['registry.npmjs.org', 'registry.yarnpkg.com']);
    expect((await ctxd('init', '--no-toolchains', '--yes')).stdout).toContain('nothing changed');
  });

  it('changes nothing without a terminal and without --yes', async () => {
    const before = await list();
    for (const words of [['allow', 'a.example.com'], ['deny', 'npm'], ['remove', 'npm'], ['off'], ['on']]) {
      const { code, stdout, stderr } = await ctxd('network', ...words);
      expect([words, code, stdout]).toEqual([words, 1, '']);
      // Nobody has decided yet: words that say what holds would be wrong.
      expect(stderr).toMatch(/^Commands in \S+ will /);
      expect(stderr.split('\n')[0]).not.toMatch(/ (?:can|are) /);
      expect(stderr).toContain('the network was not changed. A person answers yes at a terminal, or passes --yes.');
    }
    expect(await list()).toEqual(before);
  });

  it('allows, denies and takes back, for a project or the machine', async () => {
    const allowed = await ctxd(
      'network',
      'allow',
      '*.corp.example:8443',
      '--private',
      '10.1.2.3',
      '--for',
      '2h',
      '--yes',
    );
    expect(allowed.stdout).toMatch(/^Allowed:\n {2}\*\.corp\.example:8443, until .*Z, also at 10\.1\.2\.3\n/);
    await ctxd('network', 'deny', 'registry.yarnpkg.com', '--machine', '--yes');
    const { stdout } = await ctxd('network', 'list');
    expect(stdout).toContain('allow\tregistry.npmjs.org\tnpm\tproject\t');
    expect(stdout).toContain('allow (void: registry.yarnpkg.com is denied)\tregistry.yarnpkg.com\tnpm\tproject');
    expect(stdout).toContain('deny\tregistry.yarnpkg.com\t\tmachine\t');
    expect((await ctxd('network', 'remove', 'npm', '*.corp.example:8443', '--yes')).stdout).toMatch(/^Taken back:\n/);
    const { stdout: undone } = await ctxd('network', 'remove', 'registry.yarnpkg.com', '--machine', '--yes');
    expect(undone).toMatch(/^Taken back:\n/);
    expect(await patterns()).toEqual([]);
  });

  it('says that a permission for a time changes nothing where one holds for longer', async () => {
    const allow = async (...words: string[]) =>
      (await ctxd('network', 'allow', 'b.example.com', '--yes', ...words)).stdout;
    await allow();
    expect(await allow()).toBe('Nothing changed.\nIt is so already.\n');
    for (const less of [['--for', '1h'], ['--once']])
      expect(await allow(...less)).toBe(
        'Nothing changed.\nb.example.com is allowed without an end already, which stays. For less, first: ctxd network remove b.example.com\n',
      );
    await ctxd('network', 'remove', 'b.example.com', '--yes');
    expect(await allow('--for', '2h')).toMatch(/^Allowed:/);
    expect(await allow('--for', '1h')).toMatch(/^Nothing changed\.\nb\.example\.com is allowed until \S+ already/);
    await ctxd('network', 'remove', 'b.example.com', '--yes');
  });

  it('says what it does not accept', async () => {
    const refusals: [string[], RegExp][] = [
      [['allow', 'pipy', '--yes'], /pipy is not a group.*The groups are npm, /],
      [['allow', '*.co.uk', '--yes'], /\*\.co\.uk cannot be allowed/],
      [['allow', '10.0.0.1', '--yes'], /10\.0\.0\.1 cannot be a rule: it is an address/],
      [['allow', 'a.example.com', '--for', '1w', '--yes'], /"1w" is not a time/],
      [['remove', 'b.example.com', '--yes'], /nothing decides about b\.example\.com/],
      [['allow', 'a.example.com', '--machine', '--project', '.', '--yes'], /both --machine and --project/],
    ];
    for (const [words, message] of refusals) {
      const { code, stderr } = await ctxd('network', ...words);
      expect([words, code === 0]).toEqual([words, false]);
      expect(stderr).toMatch(message);
    }
  });

  it('off gives commands no network and no shared loopback, until it is on again', async () => {
    expect((await ctxd('network', 'off', '--yes')).stdout).toBe(`Commands in ${project} have no network at all.\n`);
    expect((await ctxd('network', 'list')).stdout).toContain(': off (this project).');
    const interfaces = 'readlink /proc/self/ns/net';
    const name = async () => (await at.ask('safe_bash', { command: interfaces })).data.stdout;
    expect(await name()).not.toBe(await name());
    await ctxd('network', 'on', '--yes');
    expect((await list()).is_on).toBe(true);
  });

  it('forgets what was decided when the project is no longer one', async () => {
    await ctxd('network', 'allow', 'a.example.com', '--yes');
    await ctxd('init', '--uninstall');
    await ctxd('init', '--no-toolchains', '--no-network');
    expect(await patterns()).toEqual([]);
  });

  it('is forbidden to agents by the rules that init writes for Claude Code and OpenCode', async () => {
    const settings = JSON.parse(readFileSync(join(project, '.claude/settings.json'), 'utf8'));
    const local = JSON.parse(readFileSync(join(project, '.claude/settings.local.json'), 'utf8'));
    for (const { permissions } of [settings, local]) {
      for (const words of ['network allow', 'network deny', 'network off', 'network credential', 'allow', 'quarantine'])
        expect(permissions.deny).toContain(`Bash(*ctxd ${words}*)`);
      for (const words of ['scrub allow', 'scrub reveal', 'undo', 'config set', 'init'])
        expect(permissions.deny).toContain(`Bash(*ctxd ${words}*)`);
    }
    mkdirSync(join(project, 'copy'));
    const plugin = join(project, 'copy/contextd.mjs');
    writeFileSync(plugin, readFileSync(join(project, '.claude/opencode/contextd.js')));
    const { contextd } = await import(plugin);
    const before = (await contextd({ client: {} }))['tool.execute.before'];
    const run = (command: string) => before({ tool: 'bash' }, { args: { command } });
    for (const command of [
      'ctxd network allow npm --yes',
      'cd /x && ctxd  network   on',
      '/opt/bin/ctxd config set a b',
    ])
      await expect(run(command)).rejects.toThrow('Only a person may run this command');
    for (const command of ['ctxd network list', 'ctxd network log --denied', 'ctxd stats', "safe_bash 'npm test'"])
      await expect(run(command)).resolves.toBeUndefined();
  });
});
