import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { whoCanRun } from '../fixtures/sandbox-harness.ts';
import { openUndoGround, type UndoGround } from '../fixtures/undo-ground.ts';

/** What a call does to the two files of `src` so that undo loses sight of them. */
const HIDING = [
  'echo src/ >> .gitignore; echo bad > src/a; rm src/b',
  'echo src/ > .git/info/exclude; echo x >> .gitignore; echo bad > src/a',
  'truncate -s 17M src/a',
  'mkdir src/.git; echo bad > src/a',
  'mkdir -p src/deep/.git; mv src/a src/deep/a; echo bad > src/b',
  'echo bad > src/a; chmod 000 src/a',
  'echo bad > src/a; chmod 000 src',
  'rm src/a; mkfifo src/a',
  'rm src/a; mkdir src/a',
  'mkdir -p src/.contextd-undo-1-1/x src/.contextd-undo-0123456789abcdef-1/x; echo bad > src/a',
  'mv src elsewhere; ln -s elsewhere src',
];

/** Swaps the file `d/last` between a plain file and a link, until its input ends. */
const SWAPPER = `
const { renameSync, symlinkSync, writeFileSync } = require('node:fs');
process.stdin.on('end', () => process.exit(0)).resume();
const turn = () => {
  for (let n = 0; n < 50; n++) {
    writeFileSync('d/x', 'plain');
    renameSync('d/x', 'd/last');
    symlinkSync('../secret.txt', 'd/x');
    renameSync('d/x', 'd/last');
  }
  setImmediate(turn);
};
turn();
`;

for (const who of whoCanRun()) {
  describe(`attacks on undo in a ${who}`, () => {
    let ground: UndoGround;
    const host = (script: string) => ground.bench.host(script);
    const source = (): Record<string, string> =>
      Object.fromEntries(Object.entries(ground.files()).filter(([name]) => /^src\/(?:a|b)$/.test(name)));

    beforeAll(async () => {
      ground = await openUndoGround(who);
      host('git init -q . && git config user.name a && git config user.email a@example.com');
    });
    beforeEach(() => {
      host(
        'chmod -R u+rwX src 2>/dev/null || true; rm -rf -- * .gitignore .git/info && mkdir -p src && echo a > src/a && echo b > src/b',
      );
    });
    afterAll(async () => {
      host('chmod -R u+rwX src');
      await ground.close();
    });

    it.each(HIDING)('issue 19.5: takes back a call that hides what it changed: %s', async (script) => {
      await ground.call('true');
      const before = source();
      const { changes } = await ground.call(script);
      const { files } = await ground.undo.apply(ground.bench.workspace, changes?.ref ?? 'none', false);
      expect(files.filter(({ action }) => action === 'keep')).toEqual([]);
      expect(source()).toEqual(before);
    });

    it('issue 19.5: a file that is covered again was not added by the call, and undo does not remove it', async () => {
      host('echo src/ > .gitignore && truncate -s 17M large');
      await ground.call('true');
      const { changes } = await ground.call('rm .gitignore; echo small > large; echo new > new');
      expect(changes?.files).toEqual(['D .gitignore', 'A new']);
      expect([...(changes?.notCovered ?? [])].sort()).toEqual(['large: larger than 16 MiB', 'src/: ignored directory']);
      await ground.undo.apply(ground.bench.workspace, changes?.ref ?? 'none', false);
      expect(source()).toEqual({ 'src/a': '644 a\n', 'src/b': '644 b\n' });
    });

    it('issue 19.5: with --partial a file that cannot be put back stops only itself', async () => {
      await ground.call('true');
      const { changes } = await ground.call('echo bad > src/a; echo bad > src/b');
      host('rm src/a && mkfifo src/a');
      await expect(ground.undo.apply(ground.bench.workspace, changes?.ref ?? '', false)).rejects.toMatchObject({
        code: 'CONFLICT',
      });
      const { files } = await ground.undo.apply(ground.bench.workspace, changes?.ref ?? '', true);
      expect(files.map(({ path, action }) => `${path} ${action}`)).toEqual(['src/a keep', 'src/b restore']);
      host('rm src/a');
      expect(source()).toEqual({ 'src/b': '644 b\n' });
    });

    it.each([
      'mkdir -p .git/info; rm -f .git/info/exclude; mkfifo .git/info/exclude; echo x > .gitignore',
      'mkfifo .gitignore',
      'mkdir sub; mkfifo sub/.gitignore',
      'ln -s /dev/zero .gitignore; mkdir sub; ln -s ../src/a sub/.gitignore',
      'mkdir -p .git/info; truncate -s 900M .git/info/exclude; truncate -s 15M .gitignore',
    ])('issue 19.5: a list of ignored names that is no small file counts as absent: %s', async (script) => {
      await ground.call(script);
      const { changes } = await ground.call('mkdir -p sub; echo new > sub/new');
      expect(changes?.files).toEqual(['A sub/new']);
    });

    it('issue 19.5: has the content of a file whose object in the repository a command destroyed', async () => {
      host('head -c 3000 /dev/urandom | base64 > src/a && git add -A && git commit -qm x');
      await ground.call('true');
      const before = source();
      const { changes } = await ground.call(
        'find .git/objects -type f | while read f; do chmod u+w "$f"; : > "$f"; done; echo bad > src/a',
      );
      await ground.undo.apply(ground.bench.workspace, changes?.ref ?? 'none', false);
      expect(source()).toEqual(before);
    });

    it('SEC: keeps no content that a link leads to, while a file is swapped with the link', async () => {
      const { workspace } = ground.bench;
      host('mkdir d && echo secret > secret.txt');
      const id = createHash('sha1').update('blob 7\0secret\n').digest('hex');
      await ground.call('true');
      const swapper = spawn(process.execPath, ['-e', SWAPPER], {
        cwd: workspace,
        stdio: ['pipe', 'ignore', 'inherit'],
      });
      try {
        for (let round = 0; round < 12; round++) {
          for (let n = 0; n < 300; n++) writeFileSync(join(workspace, 'd', `f${n}`), `${round}`);
          const reply = await ground.bench.sandbox.snapshot(workspace, { do: 'sync' });
          const states = reply?.changes.flatMap(({ before, after }) => [before, after]) ?? [];
          expect(states.filter((state) => state?.endsWith(id))).toEqual([]);
        }
      } finally {
        swapper.stdin?.end();
        await once(swapper, 'exit');
      }
    }, 60_000);
  });
}
