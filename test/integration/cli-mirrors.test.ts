import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '#src/cli/program.js';
import { readEnvironment } from '#src/config/env.js';
import { findInstallRoot } from '#src/config/install-root.js';
import { resolvePaths } from '#src/config/paths.js';
import { createAuthority } from '../helpers/authority.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';

const LOCAL = 'http://127.0.0.1:4873/';
const hasNpm = spawnSync('npm', ['--version']).status === 0;

let at: Installation;
/** What nobody's repository holds. */
let own: string;
beforeAll(async () => {
  at = await install({ warm: true });
  own = mkdtempSync(join(tmpdir(), 'own-'));
});
afterAll(async () => {
  await at.remove();
  rmSync(own, { recursive: true, force: true });
});

interface Offered {
  settings: { registries: { client: string; value: string }[]; certificates: string[] };
  left_out: string[];
}

/** What ctxd says in JSON; of the registries those of npm and pip, as the machine has some of its own. */
async function offered(
  variables: Record<string, string>,
  ...words: string[]
): Promise<Offered & { npm: string[]; pip: string[] }> {
  const done = await at.run(CTXD, [...words, '--json'], { env: variables });
  expect(done.code, done.stderr).toBe(0);
  const offer: Offered = JSON.parse(done.stdout);
  const of = (wanted: string) =>
    offer.settings.registries.flatMap(({ client, value }) => (client === wanted ? [value] : []));
  return { ...offer, npm: of('npm'), pip: of('pip') };
}

/** At a terminal at which a person gives this answer. */
async function atTerminal(answer: string, words: readonly string[], variables: Record<string, string>) {
  const env = readEnvironment({ ...at.environment, ...variables });
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const [out, asked] = [text(stdout), text(stderr)];
  const code = await runCli(words, {
    env,
    stdout,
    stderr,
    version: '1',
    cwd: at.project,
    signal: new AbortController().signal,
    stdin: Object.assign(Readable.from([`${answer}\n`]), { isTTY: true }),
    paths: resolvePaths(env, findInstallRoot()),
  });
  stdout.end();
  stderr.end();
  return { code, out: await out, asked: await asked };
}

describe('ctxd that npm started', () => {
  beforeAll(async () => {
    const { pem } = await createAuthority('Evil CA');
    const other = join(at.project, 'other-npmrc');
    const evil = `@evil:registry=https://scope.evil.example/\ncafile=${join(at.project, 'ca.pem')}\n`;
    const settings = `registry=https://npm.evil.example/\ncafile=./ca.pem\nuserconfig=./other-npmrc\nglobalconfig=${other}-2\n`;
    const script = (command: string) => `${CTXD} ${command}`;
    const scripts = {
      mirrors: script('network mirrors --yes --json'),
      init: script('init --yes --no-toolchains --json'),
    };
    for (const [name, content] of Object.entries({
      'ca.pem': pem,
      'other-npmrc': evil,
      'other-npmrc-2': evil,
      '.npmrc': settings,
      'package.json': JSON.stringify({ name: 'a', version: '1.0.0', scripts }),
    }))
      writeFileSync(join(at.project, name), content);
  });
  afterAll(() => rmSync(join(at.project, '.npmrc')));

  const ways: readonly (readonly string[])[] = [
    ['exec', '--offline', '-c', `${CTXD} network mirrors --yes --json`],
    ['run', '-s', 'mirrors'],
    ['run', '-s', 'init'],
  ];
  for (const words of ways)
    it.skipIf(!hasNpm)(
      `uses no registry and no certificate of the repository (npm ${words[0]}: ${words.length})`,
      async () => {
        const done = await at.run('npm', words, { env: { PIP_INDEX_URL: 'https://pip.odd.example/simple' } });
        expect(done.code, done.stderr).toBe(0);
        const said: { mirrors?: object } = JSON.parse(done.stdout);
        const offer = JSON.stringify(said.mirrors ?? said);
        expect(offer).toContain('npm, yarn, pnpm or bun started ctxd');
        expect(offer).not.toMatch(/evil\.example|pip\.odd|"-----BEGIN/);
      },
    );
});

describe('an answer that was given beforehand', () => {
  const mirrors = ['network', 'mirrors', '--yes'];
  const npmrc = (registry: string): Record<string, string> => {
    writeFileSync(join(own, 'npmrc'), `registry=${registry}\n@corp:registry=https://npm.corp.example/\n`);
    return { npm_config_userconfig: join(own, 'npmrc') };
  };

  it('takes no mirror on this machine, with any way to name it, and says who can', async () => {
    const names = ['127.0.0.1', 'localhost', '0.0.0.0', '127.1', '2130706433', '169.254.169.254'];
    for (const name of names) {
      const { npm, left_out } = await offered(npmrc(`http://${name}:4873/`), ...mirrors);
      expect([name, npm, left_out]).toEqual([
        name,
        [],
        [expect.stringMatching(/^npm: registry leads to .*Only a person at a terminal/)],
      ]);
    }
    const { stdout } = await at.run(CTXD, ['init', '--no-toolchains', '--yes'], { env: npmrc(LOCAL) });
    expect(stdout).toContain('left out: npm: registry leads to 127.0.0.1 (127.0.0.1), loopback of this machine.');
    expect((await offered({}, ...mirrors)).npm).toEqual([]);
  });

  it('takes the mirrors of other clients, and keeps one on this machine that a person allowed before', async () => {
    const variables = { ...npmrc(LOCAL), PIP_INDEX_URL: 'https://pip.corp.example/simple' };
    const pip = ['https://pip.corp.example/simple'];
    expect(await offered(variables, ...mirrors)).toMatchObject({ npm: [], pip, left_out: [expect.any(String)] });
    const { code, asked } = await atTerminal('y', ['network', 'mirrors'], variables);
    expect([code, asked]).toEqual([0, expect.stringContaining('127.0.0.1 leads to 127.0.0.1 (private)')]);
    const npm = expect.arrayContaining([LOCAL]);
    expect(await offered(variables, ...mirrors)).toMatchObject({ npm, pip, left_out: [] });
    const moved = { ...variables, ...npmrc('http://127.0.0.2:4873/') };
    expect(await offered(moved, ...mirrors)).toMatchObject({ npm: [], pip, left_out: [expect.any(String)] });
  });
});
