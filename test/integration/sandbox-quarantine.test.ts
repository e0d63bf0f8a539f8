import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { QuarantineAction, QuarantinedItem } from '#src/sandbox/quarantine.js';
import { type Bench, openBench, whoCanRun } from '../fixtures/sandbox-harness.ts';

const SETTINGS = 'sub/.vscode/settings.json';
const MAKE = `mkdir -p sub/.vscode; echo '{"a":1}' >${SETTINGS}`;

describe.each(whoCanRun())('files that a run made and a person decides on, %s', (who) => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await openBench(who);
  });
  afterEach(() => bench.close());

  const act = (action: QuarantineAction) => bench.sandbox.quarantine(bench.policy(), action);
  const items = async () => (await act({ kind: 'list', which: null })).items;
  const content = () => readFileSync(join(bench.workspace, SETTINGS), 'utf8');

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
    expect((await bench.bash('rm -r sub/.vscode')).quarantined).toEqual([]);
    expect((await bench.bash(MAKE)).quarantined).toEqual([]);
    expect(content()).toBe('{"a":1}\n');
    expect((await bench.bash(`echo evil >${SETTINGS}`)).quarantined).toEqual(['sub/.vscode']);
    expect(existsSync(join(bench.workspace, SETTINGS))).toBe(false);
  });

  test('SEC-2.3: a restored rebase todo list is judged as one when a later run continues the rebase', async () => {
    bench.host('git init -q -b main .');
    const todo = '.git/rebase-merge/git-rebase-todo';
    const { id } = await setAside(`mkdir .git/rebase-merge; echo 'exec true' >${todo}`);
    await act({ kind: 'restore', which: id });
    expect((await bench.bash(`echo 'pick 1234567 x' >>${todo}`)).quarantined).toEqual([]);
    expect((await bench.bash(`echo 'exec id' >>${todo}`)).quarantined).toEqual([todo]);
  });

  test('SEC-2.3: content that a later run changed after it was shown is not accepted', async () => {
    const { id, sha256, moved } = await setAside(MAKE);
    await bench.bash(`echo evil >${moved}/settings.json`);
    await expect(act({ kind: 'accept', which: id, sha256 })).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(existsSync(join(bench.workspace, SETTINGS))).toBe(false);
  });

  test('SEC-2.3: nothing is put back over a name that exists again, and a file that is gone is not found', async () => {
    const { id, moved } = await setAside(MAKE);
    mkdirSync(join(bench.workspace, 'sub/.vscode'));
    await expect(act({ kind: 'restore', which: id })).rejects.toMatchObject({ code: 'CONFLICT' });
    bench.host(`rm -r ${moved}`);
    await expect(act({ kind: 'restore', which: id })).rejects.toMatchObject({ code: 'PATH_NOT_FOUND' });
  });

  test('SEC-2.3: a command that runs while its file is accepted cannot change it unseen, not even through a mapping', async () => {
    const { id, sha256, moved } = await setAside('echo 1234567 >.envrc');
    const script = [
      'import mmap, os, time',
      `f = open('${moved}', 'r+b'); m = mmap.mmap(f.fileno(), 0); m[0:1] = m[0:1]`,
      "open('mapped', 'w').close()",
      "while not os.path.exists('go'): time.sleep(0.01)",
      "m[0:1] = b'X'",
    ].join('\n');
    const running = bench.bash('', { argv: ['python3', '-c', script] });
    await expect.poll(() => existsSync(join(bench.workspace, 'mapped')), { timeout: 20_000 }).toBe(true);
    await act({ kind: 'accept', which: id, sha256 });
    bench.host('touch go');
    const { exitCode, quarantined, err } = await running;
    expect({ exitCode, quarantined, err }).toEqual({ exitCode: 0, quarantined: ['.envrc'], err: '' });
  });
});

test('SEC-2.3: acceptances and set-aside files outlive the process that starts sandboxes', async () => {
  const [who] = whoCanRun();
  if (who === undefined) throw new Error('no user can run a sandbox here');
  const bench = await openBench(who);
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
