import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type LayerPlace, placeOf } from '#src/sandbox/layers/place.js';
import { GIT_AUTHOR, Ground, identitiesHere } from '../helpers/sandbox-identities.ts';

const DEADLINE = { timeout: 20_000, interval: 20 };
/** Every file of the workspace: kind, mode, owner, times of changes, target and content. */
const LIST = `find . -printf '%P %y %m %U %G %T@ %C@ %l\\n' | sort; find . -type f -print0 | sort -z | xargs -0r sha256sum`;

describe.each(identitiesHere())('a branch with files of its own, %s', (identity) => {
  let ground: Ground;
  beforeAll(async () => {
    ground = await Ground.open(identity);
  });
  beforeEach(() => ground.newProject());
  afterAll(() => ground.close());
  const run = (script: string, ...layer: string[]) => ground.run(script, { ...ground.in(...layer), env: GIT_AUTHOR });

  test('FR-6.3 sees the base and its own changes, git included, and the base stays as it is, to the byte', async () => {
    ground.host(
      'git init -q -b main . && mkdir -p d/e .vscode && echo one >a && echo two >d/b && echo x >d/e/c && : >.vscode/s.json && git add -A && git commit -qm first',
    );
    expect(await ground.createLayer('br_1')).toBe('overlay');
    const before = ground.host(LIST);
    const first = await run(
      'set -e; cat a d/b; echo changed >>a; rm d/b; rm -r d/e; mkdir d/e; echo new >n; chmod 700 d; git add -A; git commit -qm second; git log --format=%s',
      'br_1',
    );
    expect(first).toMatchObject({ exitCode: 0, out: 'one\ntwo\nsecond\nfirst\n' });
    expect(ground.host(LIST)).toBe(before);
    const second = await run(
      'cat a n; ls -A d d/e; git status --short; git log --format=%s; echo x >.vscode/s.json; echo x >.git/hooks/post-commit; echo x >>.git/config; mv .git g; true',
      'br_1',
    );
    expect(second.out).toBe('one\nchanged\nnew\nd:\ne\n\nd/e:\nsecond\nfirst\n');
    expect(second.err.match(/Read-only file system/g)).toHaveLength(3);
    expect(second.err).toContain('Device or resource busy');
    expect(second.quarantined).toEqual([]);
    expect(ground.host(LIST)).toBe(before);
    expect((await ground.run('cat a; ls')).out).toBe('one\na\nd\n');
    await ground.removeLayer('br_1');
    await expect(run('true', 'br_1')).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
  });

  test('FR-6.3 a call sees what a person did since, also while another one runs, and both write into one branch', async () => {
    ground.host('mkdir d && echo old >d/f && echo old >d/g');
    await ground.createLayer('br_1');
    const waits = ground.start(
      'cat d/f d/g; : >began; until [ -e stop ]; do sleep 0.02; done; cat own',
      ground.in('br_1'),
    );
    await expect.poll(() => existsSync(join(upperOf(ground, 'br_1'), 'began')), DEADLINE).toBe(true);
    ground.host('echo new >d/f.new && mv d/f.new d/f && rm d/g && echo more >d/m');
    const second = await run('cat d/f d/m; ls d; echo mine >own; : >stop', 'br_1');
    expect(second.out).toBe('new\nmore\nf\nm\n');
    expect((await waits.result).out).toBe('old\nold\nmine\n');
    expect(ground.host('ls -A')).toBe('d\n');
  });

  test('FR-6.3 a branch in a branch sees the files of both, and writes only its own', async () => {
    ground.host('mkdir d && echo base >d/f && echo base >d/gone');
    await ground.createLayer('br_1');
    await run('echo outer >d/f; rm d/gone; echo outer >d/o', 'br_1');
    await ground.createLayer('br_1', 'br_2');
    const inner = await run('cat d/*; ls d; echo inner >d/f; rm d/o; rm -r d; mkdir d; echo i >d/i', 'br_1', 'br_2');
    expect(inner.out).toBe('outer\nouter\nf\no\n');
    expect((await run('ls d; cat d/f', 'br_1')).out).toBe('f\no\nouter\n');
    await run('echo later >later', 'br_1');
    expect((await run('ls d; cat later', 'br_1', 'br_2')).out).toBe('i\nlater\n');
    expect(ground.host('cat d/*; ls')).toBe('base\nbase\nd\n');
    // An ordinary user can remove what contextd keeps.
    const left = () => ['br_1', 'br_2'].map((name) => modeOf(layerOf(ground, name).dir));
    await expect.poll(left, DEADLINE).toEqual([0o700, 0o700]);
    await ground.removeLayer('br_1');
    await expect(run('true', 'br_1', 'br_2')).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
  });

  test('FR-6.3 a killed daemon leaves no process and no mount of a branch, and the next one finds its files', async () => {
    ground.host('echo base >f');
    await ground.createLayer('br_1');
    const waits = ground.start('echo kept >f; : >began; sleep 60', ground.in('br_1')).result.catch(() => null);
    await expect.poll(() => existsSync(join(upperOf(ground, 'br_1'), 'began')), DEADLINE).toBe(true);
    expect(holdersOf(ground)).not.toEqual([]);
    await ground.killHost();
    await waits;
    await expect.poll(() => holdersOf(ground), DEADLINE).toEqual([]);
    await ground.restart();
    expect((await run('cat f', 'br_1')).out).toBe('kept\n');
    await expect.poll(() => holdersOf(ground), DEADLINE).toEqual([]);
    expect(ground.host('cat f')).toBe('base\n');
  });

  test('FR-6.3 removing a branch kills what runs in it, and leaves nothing of it', async () => {
    const layersDir = () => join(ground.home, 'data', 'layers');
    const layersBefore = existsSync(layersDir()) ? readdirSync(layersDir()) : [];
    await ground.createLayer('br_1');
    const waits = ground.start('mkdir -p shut/in; chmod 0 shut; : >began; sleep 60', ground.in('br_1')).result;
    await expect.poll(() => existsSync(join(upperOf(ground, 'br_1'), 'began')), DEADLINE).toBe(true);
    await ground.removeLayer('br_1');
    expect(await waits).toMatchObject({ exitCode: null });
    const left = () => readdirSync(layersDir()).filter((name) => !layersBefore.includes(name));
    await expect.poll(left, DEADLINE).toEqual([]);
    expect(holdersOf(ground)).toEqual([]);
  });

  test('FR-6.3 no character in the path of a workspace means anything to a mount', async () => {
    for (const name of ['a b', 'a:b,c', 'a\\b\\040', 'lower=x', 'a\nb', '"quoted"', 'ä€', '$(touch x)']) {
      ground.newProject(name);
      ground.host('echo base >f');
      expect(await ground.createLayer('br_1')).toBe('overlay');
      expect(await run('cat f; echo own >f; cat f; pwd', 'br_1')).toMatchObject({
        out: `base\nown\n${ground.workspace}\n`,
      });
      expect(ground.host('cat f; ls')).toBe('base\nf\n');
    }
  });
});

describe.runIf(process.getuid?.() === 0).each(identitiesHere())('without overlays, %s', (identity) => {
  let ground: Ground;
  beforeAll(async () => {
    ground = await Ground.open(identity, { noOverlays: true });
  });
  afterAll(() => ground.close());

  test('FR-6.3 a branch works in a copy, a branch in it in a copy of that, and hidden files are not in either', async () => {
    ground.host('git init -q . && mkdir -p d/e && echo one >d/f && ln -s f d/l && mkfifo d/p && echo hidden >d/.env');
    const policy = (...layer: string[]) => ({ policy: { ...ground.in(...layer).policy, deny: ['**/.env'] } });
    expect(await ground.createLayer('br_1')).toBe('copy');
    const before = ground.host(LIST);
    await ground.removeLayer('br_1');
    expect(await ground.createLayerWith(policy('br_1'))).toBe('copy');
    const first = await ground.run('cat d/l; echo two >d/f; mv d moved; rm -r moved/e; cat moved/.env', policy('br_1'));
    expect(first.out).toBe('one\n');
    expect((await ground.run('cat moved/l; ls; cat moved/.env', policy('br_1'))).out).toBe('two\nmoved\n');
    expect(await ground.createLayerWith(policy('br_1', 'br_2'))).toBe('copy');
    expect((await ground.run('cat moved/f; echo three >moved/f', policy('br_1', 'br_2'))).out).toBe('two\n');
    expect((await ground.run('cat moved/f', policy('br_1'))).out).toBe('two\n');
    expect(ground.host(LIST)).toBe(before);
    if (identity !== 'root on a root-owned project') return;
    ground.host('seq -f many-%g 20001 | xargs touch');
    await expect(ground.createLayer('br_3')).rejects.toThrow('too many for a copy');
  });
});

/** Of the directory that the overlay itself makes. */
function modeOf(layer: string): number {
  return statSync(join(layer, 'work', 'work')).mode & 0o777;
}

function layerOf(ground: Ground, branch: string): LayerPlace {
  return placeOf(join(ground.home, 'data', 'layers'), ground.workspace, branch);
}

function upperOf(ground: Ground, branch: string): string {
  return layerOf(ground, branch).upper;
}

/** Processes in whose mount namespace an overlay lies on the workspace. */
function holdersOf(ground: Ground): string[] {
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && hasOverlay(pid, ground.workspace));
}

function hasOverlay(pid: string, workspace: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/mountinfo`, 'utf8').includes(` ${workspace} rw,nosuid,nodev`);
  } catch {
    return false;
  }
}
