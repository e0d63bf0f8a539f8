import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { QuarantineAction, QuarantinedItem } from '#src/guard/contract/quarantine.js';
import { type Bench, openBench, usualWho } from '../fixtures/sandbox-harness.ts';

const SETTINGS = 'sub/.vscode/settings.json';
const MAKE = `mkdir -p sub/.vscode; echo '{"a":1}' >${SETTINGS}`;

describe.each(usualWho())('files that a run made and a person decides on, %s', (who) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench(who);
  });
  beforeEach(() => bench.newWorkspace());
  afterAll(() => bench.close());

  const act = (action: QuarantineAction) => bench.sandbox.quarantine(bench.policy(), action);
  const items = async () => (await act({ kind: 'list', which: null })).items;
  const content = () => readFileSync(join(bench.workspace, SETTINGS), 'utf8');

  /** The paths that a script made and that were set aside, also if the search went on after the answer. */
  async function setAsideBy(script: string): Promise<string[]> {
    const { quarantined, searchComplete } = await bench.bash(script);
    return searchComplete ? quarantined : [...quarantined, ...(await bench.bash('true')).quarantined];
  }

  /** What this script made, which was set aside. */
  async function setAside(script: string): Promise<QuarantinedItem & { sha256: string }> {
    const { raw } = await bench.bash(script);
    const [item] = await items();
    expect(raw.quarantined).toEqual([{ path: item?.path, id: item?.id, reason: item?.reason }]);
    if (item === undefined || item.sha256 === null) throw new Error('nothing with a hash was set aside');
    return { ...item, sha256: item.sha256 };
  }

  test('SEC-2.3: a file is listed and restored, and the next runs see it read-only', async () => {
    const { id, path, kind } = await setAside(MAKE);
    expect({ path, kind }).toEqual({ path: 'sub/.vscode', kind: 'directory' });
    expect(existsSync(join(bench.workspace, SETTINGS))).toBe(false);
    await act({ kind: 'restore', which: id });
    expect(await items()).toEqual([]);
    expect((await bench.bash(`cat ${SETTINGS}; touch sub/other`)).out).toBe('{"a":1}\n');
    const { err, quarantined } = await bench.bash(`echo evil >${SETTINGS}; rm -rf sub/.vscode`);
    expect(err).toContain('Read-only file system');
    expect([quarantined, content()]).toEqual([[], '{"a":1}\n']);
  });

  test('SEC-2.3: accepted content stays if a run makes it again, other content at its path does not', async () => {
    const { id, sha256 } = await setAside(MAKE);
    await act({ kind: 'accept', which: id, sha256 });
    expect(content()).toBe('{"a":1}\n');
    bench.host('rm -r sub/.vscode');
    expect((await bench.bash(MAKE)).quarantined).toEqual([]);
    expect(content()).toBe('{"a":1}\n');
    bench.host('rm -r sub/.vscode');
    expect((await bench.bash(MAKE.replace('1', '2'))).quarantined).toEqual(['sub/.vscode']);
    expect(existsSync(join(bench.workspace, SETTINGS))).toBe(false);
  });

  test('SEC-2.3: a run may remove accepted content and make it again; if the run changes it, it is set aside', async () => {
    const { id, sha256 } = await setAside(MAKE);
    await act({ kind: 'accept', which: id, sha256 });
    expect(await setAsideBy('rm -r sub/.vscode')).toEqual([]);
    expect(await setAsideBy(MAKE)).toEqual([]);
    expect(content()).toBe('{"a":1}\n');
    expect(await setAsideBy(`echo evil >${SETTINGS}`)).toEqual(['sub/.vscode']);
    expect(existsSync(join(bench.workspace, SETTINGS))).toBe(false);
  });

  test('SEC-2.3: a run that closes the project to everybody keeps no later run out', async () => {
    for (const mode of ['000', '111', '222', '055']) {
      await bench.bash(`chmod ${mode} .`);
      expect([mode, (await bench.bash('echo x >works; cat works')).out]).toEqual([mode, 'x\n']);
    }
  });

  test('SEC-2.3: a configuration that a person writes again during a run stays if it runs nothing new', async () => {
    bench.host('git init -q -b main . && git config core.excludesFile ~/ignored && git config alias.st "!git status"');
    await bench.bash('true');
    const during = async (host: string): Promise<string[]> => {
      const call = bench.bash(': >started; while [ ! -e go ]; do sleep 0.01; done; rm go started');
      await expect.poll(() => existsSync(join(bench.workspace, 'started'))).toBe(true);
      bench.host(`${host}; : >go`);
      return (await call).quarantined;
    };
    expect(await during('git config user.name someone; git config alias.st "!git status"')).toEqual([]);
    expect(bench.host('git config alias.st; git config user.name')).toBe('!git status\nsomeone\n');
    expect(await during('git config core.fsmonitor ./evil')).toEqual(['.git/config']);
  });

  test('SEC-2.3: a restored rebase todo list is judged as one when a later run continues the rebase', async () => {
    bench.host('git init -q -b main .');
    const todo = '.git/rebase-merge/git-rebase-todo';
    const { id } = await setAside(`mkdir .git/rebase-merge; echo 'exec true' >${todo}`);
    await act({ kind: 'restore', which: id });
    expect((await bench.bash(`echo 'pick 1234567 x' >>${todo}`)).quarantined).toEqual([]);
    expect((await bench.bash(`echo 'exec id' >>${todo}`)).quarantined).toEqual([todo]);
  });

  test('SEC-2.3: no later run sees, changes or removes what was set aside', async () => {
    const { id, moved } = await setAside(MAKE);
    const { out } = await bench.bash(
      `ls -d ${moved} ${dirname(moved)}; find . -name '*vscode*'; echo evil >${moved}/settings.json; rm -rf ${dirname(moved)} *vscode*`,
    );
    expect([out, readFileSync(join(moved, 'settings.json'), 'utf8')]).toEqual(['', '{"a":1}\n']);
    await act({ kind: 'restore', which: id });
    expect(content()).toBe('{"a":1}\n');
  });

  test('SEC-2.3: nothing is put back over a name that exists again, and a file that is gone is not found', async () => {
    const { id, moved } = await setAside(MAKE);
    mkdirSync(join(bench.workspace, 'sub/.vscode'));
    await expect(act({ kind: 'restore', which: id })).rejects.toMatchObject({ code: 'CONFLICT' });
    rmSync(moved, { recursive: true });
    await expect(act({ kind: 'restore', which: id })).rejects.toMatchObject({ code: 'PATH_NOT_FOUND' });
  });

  test('SEC-2.3: a command that still runs cannot change what was set aside and put back, not even through a mapping', async () => {
    const script = [
      'import mmap, os, time',
      "open('.envrc', 'w').write('1234567\\n')",
      "f = open('.envrc', 'r+b'); m = mmap.mmap(f.fileno(), 0); m[0:1] = m[0:1]",
      "open('mapped', 'w').close()",
      "while not os.path.exists('go'): time.sleep(0.01)",
      "m[0:1] = b'X'",
    ].join('\n');
    const found: string[] = [];
    const job = bench.sandbox.begin(
      bench.policy(),
      {
        argv: ['python3', '-c', script],
        cwd: bench.workspace,
        env: {},
        timeoutMs: 60_000,
        outputMaxBytes: 0,
        outputKillBytes: 0,
        signal: new AbortController().signal,
        onOutput: () => {},
      },
      (paths) => found.push(...paths.map(({ path }) => path)),
    );
    await expect.poll(() => existsSync(join(bench.workspace, 'mapped')), { timeout: 20_000 }).toBe(true);
    await expect.poll(() => found, { timeout: 30_000 }).toEqual(['.envrc']);
    const [item] = await items();
    await act({ kind: 'accept', which: item?.id ?? '', sha256: item?.sha256 ?? '' });
    bench.host('touch go');
    // It changed the inode that it made. What was set aside is a copy.
    expect(await job.ended).toMatchObject({ exitCode: 0, quarantined: [{ path: '.envrc' }] });
    expect(readFileSync(join(bench.workspace, '.envrc'), 'utf8')).toBe('1234567\n');
  });
});

test('SEC-2.3: acceptances and set-aside files outlive the process that starts sandboxes', async () => {
  const bench = await openBench(...usualWho());
  try {
    await bench.bash('echo good >.envrc; echo x >.bashrc');
    const { items } = await bench.sandbox.quarantine(bench.policy(), { kind: 'list', which: null });
    const [bashrc, envrc] = items.toSorted((a, b) => (a.path < b.path ? -1 : 1));
    const which = envrc?.id ?? '';
    await bench.sandbox.quarantine(bench.policy(), { kind: 'accept', which, sha256: envrc?.sha256 ?? '' });
    await bench.sandbox.stop();
    await bench.sandbox.launch();
    bench.host('rm .envrc');
    expect((await bench.bash('echo good >.envrc')).quarantined).toEqual([]);
    const again = await bench.sandbox.quarantine(bench.policy(), { kind: 'list', which: null });
    expect(again).toMatchObject({ items: [{ id: bashrc?.id, path: '.bashrc' }], accepted: [{ path: '.envrc' }] });
  } finally {
    await bench.close();
  }
});
