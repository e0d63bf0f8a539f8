import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLogger } from '#src/core/log.js';
import { GitViews } from '#src/sandbox/git/git-views.js';

const PERSON = {
  person: { home: '/nonexistent', gitConfigs: [] },
  text: '',
  ignored: '',
  attributes: '',
  drivers: [],
  hasIdentity: true,
  signs: false,
};

let base: string;
let views: GitViews;

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'contextd-git-copies-')));
  const skeletonDir = join(base, 'public');
  mkdirSync(skeletonDir);
  views = new GitViews({ sandboxDir: base, skeletonDir, isOwn: () => true }, silentLogger);
});

afterAll(async () => {
  await views.stop();
  rmSync(base, { recursive: true, force: true });
});

test('what a command left in its copies is collected also if the sandbox is gone before', async () => {
  const config = join(base, 'project/.git/config');
  spawnSync('git', ['init', '-q', join(base, 'project')]);
  const view = await views.prepare({
    identity: { kind: 'self' },
    person: PERSON,
    configs: [config],
    writable: [],
    hasProgram: () => true,
  });
  expect(view.links).toEqual([config]);
  view.seed();
  const [sandbox = ''] = readdirSync(join(base, 'git'));
  const [copy = ''] = readdirSync(join(base, 'git', sandbox));
  const add = [
    'config',
    '-f',
    join(base, 'git', sandbox, copy, 'config'),
    'remote.up.url',
    'https://example.com/a.git',
  ];
  expect(spawnSync('git', add).status).toBe(0);
  view.remove();
  expect(readdirSync(join(base, 'git'))).toEqual([]);
  expect(await view.collect()).toMatchObject({ denied: [], notices: [expect.stringContaining('remote up')] });
  expect(readFileSync(config, 'utf8')).toContain('https://example.com/a.git');
});
