import { existsSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CTXD, type Installation, install } from '../helpers/installation.ts';

let at: Installation;
let own: ReadonlySet<string>;
beforeAll(async () => {
  // A daemon of its own: the ledgers of other projects would be beside the one that a test looks for.
  at = await install();
  own = new Set(readdirSync(at.project));
});
afterAll(() => at.remove());
afterEach(async () => {
  await quarantine('remove', '--all', '--yes');
  for (const name of readdirSync(at.project)) if (!own.has(name)) remove(name);
});

const remove = (path: string) => rmSync(join(at.project, path), { recursive: true });

const quarantine = (...words: string[]) => at.run(CTXD, ['quarantine', ...words]);
const bash = async (command: string) => (await at.ask('safe_bash', { command })).meta;
const there = (path: string) => existsSync(join(at.project, path));

/** Runs a command that makes one file that is set aside. Returns the file's id from the answer. */
async function setAside(command: string): Promise<string> {
  const { warnings } = await bash(command);
  const [, id] = /^\S+ was set aside: .+\. A person can allow it: ctxd quarantine accept ([0-9a-f]{8})$/.exec(
    String((warnings as string[] | undefined)?.[0]),
  ) ?? ['', ''];
  if (id === undefined || id === '') throw new Error(`no id in ${JSON.stringify(warnings)}`);
  return id;
}

async function listed(): Promise<{ items: Record<string, unknown>[]; accepted: Record<string, unknown>[] }> {
  return JSON.parse((await quarantine('list', '--json')).stdout);
}

describe('ctxd quarantine', () => {
  it('SEC-2.3: restores a file by the id in the answer, and the next command leaves the file in place', async () => {
    const id = await setAside('mkdir -p sub/.vscode; echo "{}" >sub/.vscode/settings.json');
    expect(there('sub/.vscode')).toBe(false);
    expect((await listed()).items).toMatchObject([{ id, path: 'sub/.vscode', kind: 'directory', size_bytes: 3 }]);
    const [, row] = (await quarantine('list')).stdout.split('\n');
    expect(row).toMatch(
      new RegExp(`^${id}\\tset aside\\tsub/\\.vscode\\tdirectory\\t3\\t[0-9a-f]{12}\\t.+\\ta program on the host`),
    );
    const restored = await quarantine('restore', id);
    expect(restored).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('Restored: sub/.vscode.') });
    expect((await bash('ls sub')).warnings).toBeUndefined();
    expect(there('sub/.vscode/settings.json')).toBe(true);
    expect(await listed()).toEqual({ items: [], accepted: [] });
    expect(await quarantine('restore', id)).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(id) });
  });

  it('SEC-2.3: lists what was only reported, doctor repeats it until a person accepts it, and nothing was moved', async () => {
    const { warnings } = await bash('echo 1 >.strangerc; echo obey >AGENTS.md; ln -s /etc/hosts hosts');
    expect(warnings).toEqual([
      'reported to the person: .strangerc (programs may take settings from it), AGENTS.md (agents obey it), hosts (it leads out of the project, to /etc/hosts)',
    ]);
    const items = (await listed()).items.toSorted((a, b) => (String(a.path) < String(b.path) ? -1 : 1));
    expect(items.map(({ path, moved }) => [path, moved])).toEqual(
      ['.strangerc', 'AGENTS.md', 'hosts'].map((path) => [path, path]),
    );
    const doctor = async () => (await at.run(CTXD, ['doctor'])).stdout;
    const line = (await doctor()).split('\n').find((one) => one.includes('reported files'));
    for (const { path, reason } of items) expect(line).toContain(`${path} (${reason})`);
    const [first, second, third] = items.map(({ id }) => String(id));
    const restored = await quarantine('restore', String(first));
    expect(restored).toMatchObject({ code: 1, stderr: expect.stringContaining(`ctxd quarantine accept ${first}`) });
    expect((await quarantine('accept', String(first), String(second), '--yes')).code).toBe(0);
    expect(await doctor()).toContain('calls left hosts (it leads out of the project, to /etc/hosts)');
    expect((await quarantine('restore', '--all')).stdout).toBe('nothing is set aside\n');
    remove('hosts');
    expect((await quarantine('list')).stdout).not.toContain(String(third));
    expect(await doctor()).not.toContain('reported files');
    expect((await bash('echo 1 >.strangerc; echo obey >AGENTS.md')).warnings).toBeUndefined();
    expect((await bash('echo obey >>AGENTS.md')).warnings).toEqual([
      'reported to the person: AGENTS.md (agents obey it)',
    ]);
    for (const one of (await listed()).accepted) await quarantine('accept', '--revoke', String(one.path));
  });

  it('SEC-2.3: restores nothing that was written after it was listed, also with --all, until it is listed again', async () => {
    const id = await setAside('echo good >.envrc');
    await quarantine('list');
    const [item] = (await listed()).items;
    await bash(`echo evil >${item?.moved}`);
    writeFileSync(String(item?.moved), 'changed\n');
    for (const which of [id, '--all']) {
      expect(await quarantine('restore', which)).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/its content changed[\s\S]*ctxd quarantine list/),
      });
      expect(there('.envrc')).toBe(false);
    }
    await quarantine('list');
    expect((await quarantine('restore', '--all')).stdout).toContain('Restored: .envrc.');
    expect(readFileSync(join(at.project, '.envrc'), 'utf8')).toBe('changed\n');
  });

  it('SEC-2.3: accepts content after showing it, safely for a terminal, and after a yes', async () => {
    const make = `printf 'echo hello\\n\\033[2Jhidden\\n' >.envrc`;
    const id = await setAside(make);
    const asked = await quarantine('accept', id);
    expect(asked).toMatchObject({ code: 1, stdout: '' });
    expect(asked.stderr).toContain('.envrc was set aside: a program on the host would run or trust it.');
    expect(asked.stderr).toMatch(/file, 22 bytes, sha256 [0-9a-f]{64}\n {2}\| echo hello\n {2}\| \\u001b\[2Jhidden\n/);
    expect(asked.stderr).toContain('.envrc: not accepted. Answer yes, or pass --yes if nobody can be asked.');
    expect(there('.envrc')).toBe(false);
    const [item] = (await listed()).items;
    const accepted = await quarantine('accept', String(item?.sha256).slice(0, 12), '--yes');
    expect(accepted).toMatchObject({ code: 0, stdout: `Accepted: .envrc with sha256 ${item?.sha256}.\n` });
    expect((await quarantine('accept', '--revoke', '.envrc')).stdout).toContain('No longer accepted: .envrc');
  });

  it('SEC-2.3: leaves accepted content in place when it is made again, also after a restart, until the acceptance is revoked', async () => {
    const make = 'echo good >.envrc';
    const id = await setAside(make);
    const { items } = JSON.parse((await quarantine('accept', id, '--yes', '--json')).stdout);
    await at.run(CTXD, ['server', 'restart']);
    remove('.envrc');
    for (const command of [make, 'true']) expect((await bash(command)).warnings).toBeUndefined();
    expect(there('.envrc')).toBe(true);
    expect(await listed()).toMatchObject({ items: [], accepted: [{ path: '.envrc', sha256: items[0].sha256 }] });
    expect((await quarantine('accept', '--revoke', items[0].sha256)).code).toBe(0);
    remove('.envrc');
    await setAside(make);
    expect(there('.envrc')).toBe(false);
  });

  it('SEC-2.3: keeps its records in a file with mode 0600 in a directory with mode 0700', async () => {
    await setAside('echo x >.envrc');
    const dir = join(at.home, 'state/quarantine');
    expect((statSync(dir).mode & 0o777).toString(8)).toBe('700');
    const ledgers = () => at.filesHolding('".envrc"').filter((path) => path.startsWith(dir));
    await expect.poll(ledgers).toHaveLength(1);
    const [file] = ledgers();
    expect((statSync(file ?? '').mode & 0o777).toString(8)).toBe('600');
    expect(JSON.parse(readFileSync(file ?? '', 'utf8'))).toMatchObject({
      workspace: realpathSync(at.project),
      items: expect.arrayContaining([expect.objectContaining({ path: '.envrc' })]),
    });
  });

  it('SEC-2.3: cannot be used by a command in the sandbox or in a project that is not registered', async () => {
    const id = await setAside('echo x >.envrc');
    const { data } = await at.ask('safe_bash', {
      command: `ctxd quarantine accept ${id} --yes; ${CTXD} quarantine list`,
    });
    expect(data.exit_code).not.toBe(0);
    expect(there('.envrc')).toBe(false);
    const elsewhere = await at.run(CTXD, ['quarantine', 'list', '/usr/share']);
    expect(elsewhere).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('ctxd init') });
  });

  it('CE-1.4: reports more than five set-aside paths in one line of the answer, and all of them in the audit record', async () => {
    const { warnings } = await bash('for i in 1 2 3 4 5 6 7; do mkdir d$i; echo x >d$i/.envrc; done');
    expect(warnings).toEqual([
      '7 paths were set aside, such as d1/.envrc, d2/.envrc, d3/.envrc: programs on the host would run or trust them. A person can allow them: ctxd quarantine list',
    ]);
    const records = JSON.parse((await at.run(CTXD, ['audit', 'tail', '--json'])).stdout);
    const named: { path: string; id: string }[] = records.at(-1).quarantined;
    const items = (await listed()).items.map(({ path, id }) => `${path} ${id}`).sort();
    expect(named.map(({ path, id }) => `${path} ${id}`)).toEqual(items);
    expect(named).toHaveLength(7);
  });

  it('SEC-2.3: removes what was set aside after showing it and a yes, and nothing that was only reported', async () => {
    const id = await setAside('echo hello >.envrc');
    await bash('echo 1 >.strangerc');
    const { items } = await listed();
    const reported = String(items.find(({ path }) => path === '.strangerc')?.id);
    const asked = await quarantine('remove', id);
    expect(asked).toMatchObject({ code: 1, stdout: '' });
    expect(asked.stderr).toContain('  | hello');
    expect(asked.stderr).toContain('.envrc: not removed. Answer yes, or pass --yes if nobody can be asked.');
    const refused = await quarantine('remove', id, reported, '--yes');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('Remove the file itself') });
    expect((await listed()).items).toHaveLength(2);
    expect(await quarantine('remove', '--all', '--yes')).toMatchObject({
      code: 0,
      stdout: `Removed: .envrc (${id}).\n`,
    });
    expect(readdirSync(dirname(dirname(String(items.find((one) => one.id === id)?.moved))))).toEqual([]);
    expect(await quarantine('restore', id)).toMatchObject({ code: 1, stderr: expect.stringContaining(id) });
    remove('.strangerc');
    expect(await listed()).toEqual({ items: [], accepted: [] });
  });

  it('SEC-2.3: does not count what was set aside as a change of the call, so that no undo brings it back', async () => {
    const before = await bash('echo evil >.envrc; echo fine >fine');
    expect(before.files_changed).toEqual(['A fine']);
    expect((await at.run(CTXD, ['undo', '--yes'])).code).toBe(0);
    expect([there('.envrc'), there('fine')]).toEqual([false, false]);
  });

  it('SEC-2.3: restores and accepts several files at once, and everything with --all, after all were shown', async () => {
    await bash('for i in 1 2 3; do mkdir -p e$i; echo e$i >e$i/.envrc; done');
    const ids = (await listed()).items.filter(({ path }) => /^e[12]\//.test(String(path))).map(({ id }) => String(id));
    const restored = await quarantine('restore', ...ids);
    expect(restored.stdout.match(/^Restored: e[12]\/\.envrc/gm)).toHaveLength(2);
    const { items } = await listed();
    const asked = await quarantine('accept', '--all');
    expect(asked.code).toBe(1);
    for (const { path } of items) expect(asked.stderr).toContain(`${path} was set aside`);
    const accepted = await quarantine('accept', '--all', '--yes');
    expect(accepted.stdout.match(/^Accepted: /gm)).toHaveLength(items.length);
    expect((await quarantine('restore', '--all')).stdout).toBe('nothing is set aside\n');
  });
});
