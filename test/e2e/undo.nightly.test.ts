import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CTXD, type Installation, install } from '../helpers/installation.ts';

describe('ctxd undo', () => {
  let at: Installation;
  beforeAll(async () => {
    at = await install({ warm: true });
  });
  afterAll(() => at.remove());

  const read = (name: string): string => readFileSync(join(at.project, name), 'utf8');
  const undo = (...args: string[]) => at.run(CTXD, ['undo', ...args]);

  it('issue 19.5: shows what it will restore, asks, restores the last call that changed files, and can be undone', async () => {
    await at.ask('safe_write', { path: 'kept.txt', content: 'one\n' });
    const changed = await at.ask('safe_bash', { command: 'echo two >> kept.txt; echo 3 > new.txt' });
    expect(changed.meta.files_changed).toEqual(['M kept.txt', 'A new.txt']);
    const [ref = ''] = changed.refs;
    expect(ref).toMatch(/^undo_/);
    expect((await at.ask('safe_bash', { command: 'cat kept.txt' })).meta).not.toHaveProperty('files_changed');
    const shown = await undo('--dry-run');
    expect(shown.stdout).toMatch(
      new RegExp(`^${ref}: safe_bash at .*, 2 files\n  to put back: kept.txt\n  to remove: new.txt\n$`),
    );
    const asked = await undo();
    expect(asked).toMatchObject({ code: 1, stderr: expect.stringContaining('nothing was put back') });
    expect(read('kept.txt')).toBe('one\ntwo\n');
    const done = await undo('--yes');
    expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('  removed: new.txt\nUndone.') });
    expect(read('kept.txt')).toBe('one\n');
    expect((await undo('--yes')).code).toBe(0);
    expect(read('kept.txt')).toBe('one\ntwo\n');
    const byRequest = await undo(changed.meta.request_id, '--yes', '--json');
    expect(JSON.parse(byRequest.stdout)).toMatchObject({ ref, request_id: changed.meta.request_id });
    expect(read('kept.txt')).toBe('one\n');
  });

  it('issue 19.5: keeps what a person has changed since, and puts the rest back only if a person wants that', async () => {
    const { refs } = await at.ask('safe_bash', { command: 'echo a > mine.txt; echo b > yours.txt' });
    writeFileSync(join(at.project, 'mine.txt'), 'of a person');
    const refused = await undo(refs[0] ?? '', '--yes');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('changed since: mine.txt') });
    expect(read('yours.txt')).toBe('b\n');
    const part = await undo(refs[0] ?? '', '--yes', '--partial');
    expect(part.stdout).toContain('  removed: yours.txt\n  stays as it is: mine.txt (it was changed since)\n');
    expect(read('mine.txt')).toBe('of a person');
    const again = await undo(refs[0] ?? '', '--yes', '--partial');
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('mine.txt (it was changed since)') });
  });

  it('issue 19.5: takes no older call back in place of the last one, if undo covers nothing of what that changed', async () => {
    const { refs } = await at.ask('safe_bash', { command: 'echo older > older.txt' });
    const big = await at.ask('safe_bash', { command: 'truncate -s 17M big.iso' });
    expect(big.refs).toEqual([]);
    expect(big.meta.files_not_covered).toEqual(['big.iso: larger than 16 MiB']);
    const text = await at.run('.claude/tools/safe_bash/safe_bash', ['truncate -s 18M big.iso']);
    expect(text.stderr).toBe('[contextd changed, but undo does not cover it: big.iso (larger than 16 MiB)]\n');
    const refused = await undo('--yes');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('changed only what undo does not cover: big.iso (larger than 16 MiB)');
    expect(refused.stderr).toContain(`\`ctxd undo ${refs[0]}\` takes back the call before, safe_bash at `);
    expect(read('older.txt')).toBe('older\n');
    expect((await undo(big.meta.request_id, '--yes')).stdout).toMatch(/0 files\nnot covered: big\.iso/);
    expect((await undo(refs[0] ?? '', '--yes')).stdout).toContain('  removed: older.txt');
  });

  it('issue 19.5: reports an unknown call and a wrong name, and undoes in a new daemon too', async () => {
    rmSync(join(at.project, 'mine.txt'));
    const { refs } = await at.ask('safe_bash', { command: 'echo c > later.txt' });
    expect((await undo('undo_00000000')).stderr).toContain('no call undo_00000000 has changed files');
    expect((await undo('../x')).stderr).toContain('names no call');
    await at.run(CTXD, ['server', 'restart']);
    expect((await undo(refs[0] ?? '', '--yes')).stdout).toContain('  removed: later.txt');
  });

  it('issue 31.7: takes back the edit and names the import that wrote byte code after it; --list shows both', async () => {
    at.run('git', ['init', '-q', '.']);
    writeFileSync(join(at.project, '.gitignore'), '__pycache__/\n*.pyc\nnode_modules/\n');
    await at.ask('safe_write', { path: 'mod.py', content: 'x = 1\n' });
    const edit = await at.ask('safe_write', { path: 'mod.py', content: 'x = 2\n', mode: 'overwrite' });
    await at.ask('safe_bash', { command: 'python3 -c "import mod"' });
    const run = await at.ask('safe_bash', { command: 'python3 -c "import mod"' });
    const listed = JSON.parse((await undo('--list', '--json')).stdout);
    expect(listed.map(({ verdict }: { verdict: string }) => verdict).slice(0, 2)).toEqual(['byproducts', 'work']);
    expect(listed[1]).toMatchObject({ ref: edit.refs[0], tool: 'safe_write', files: ['M mod.py'] });
    expect(run.refs).toEqual([]);
    expect(await undo('--list', '--yes')).toMatchObject({ code: 2, stdout: '' });
    const table = await undo('--list');
    expect(table.stdout).toMatch(new RegExp(`${edit.refs[0]}\\t.*\\tsafe_write\\t.*mod\\.py.*\\ttakes it back`));
    expect(table.stdout).toContain('skipped: by-products');
    const done = await undo('--yes');
    expect(done.stdout).toContain('  put back: mod.py\n');
    expect(done.stdout).toMatch(
      /skipped, because it changed only by-products: req_\w+, safe_bash at .* \(__pycache__\//,
    );
    expect(read('mod.py')).toBe('x = 1\n');
  });

  it('issue 31.7: undoes nothing after an edit in an ignored directory', async () => {
    await at.ask('safe_bash', { command: 'mkdir -p node_modules/x; echo 1 > node_modules/x/i' });
    await at.ask('safe_bash', { command: 'echo work >> kept.txt' });
    const before = read('kept.txt');
    await at.ask('safe_bash', { command: 'echo evil > node_modules/x/i' });
    for (const how of ['--dry-run', '--yes']) {
      const refused = await undo(how);
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      expect(refused.stderr).toContain('changed only what undo does not cover: node_modules/x/i (ignored directory)');
    }
    expect(read('kept.txt')).toBe(before);
  });
});
