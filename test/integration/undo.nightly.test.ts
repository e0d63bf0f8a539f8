import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { usualWho } from '../fixtures/sandbox-harness.ts';
import { callId, openUndoGround, type UndoGround, undoOver } from '../fixtures/undo-ground.ts';
import { shapeRuns } from '../helpers/property-runs.ts';

const PATHS = ['a', 'b', 'd/a', 'd/e/x', 'ä ö', 'new\nline', '-n', ':(glob)*', 'log/it.log', '.hidden'];
const path = fc.constantFrom(...PATHS);
const quoted = (text: string): string => `'./${text}'`;

/** What one call does: any of these may fail, as commands do. */
const step = fc.oneof(
  fc
    .tuple(path, fc.integer({ max: 999, min: 0 }))
    .map(([to, n]) => `mkdir -p -- "$(dirname ${quoted(to)})" && echo ${n} > ${quoted(to)}`),
  path.map((to) => `[ -f ${quoted(to)} ] && echo more >> ${quoted(to)}`),
  path.map((to) => `rm -rf ${quoted(to)}`),
  fc.constant('rm -rf d'),
  fc.constant('mv d moved'),
  fc.constant('rm -rf log && echo file > log'),
  fc.tuple(path, path).map(([from, to]) => `mv ${quoted(from)} ${quoted(to)}`),
  fc.tuple(path, path).map(([from, to]) => `ln -sf ${quoted(from)} ${quoted(to)}`),
  fc.tuple(path, path).map(([from, to]) => `ln -f ${quoted(from)} ${quoted(to)}`),
  fc.tuple(path, fc.constantFrom('600', '755', '444', '1755')).map(([to, mode]) => `chmod ${mode} ${quoted(to)}`),
  fc.constant('mkdir -p ign && echo x > ign/x && touch empty'),
  fc.constantFrom('d', 'd/e', 'log', 'moved', 'empty dir/in').map((to) => `mkdir -p ${quoted(to)}`),
  fc.constantFrom('d', 'd/e', 'log', 'empty dir/in').map((to) => `rmdir ${quoted(to)}`),
  fc
    .tuple(fc.constantFrom('d', 'd/e', 'log'), fc.constantFrom('700', '755', '555', '711'))
    .map(([to, mode]) => `chmod ${mode} ${quoted(to)}`),
  fc.constantFrom('700', '755').map((mode) => `chmod ${mode} .`),
);
/** More events than the kernel queues, of two names only. */
const FLOOD = 'perl -e \'open A, ">", "flood-a"; open B, ">", "flood-b"; syswrite $_ % 2 ? A : B, $_ for 1 .. 20000\'';
const script = fc
  .array(fc.oneof({ weight: 40, arbitrary: step }, { weight: 1, arbitrary: fc.constant(FLOOD) }), {
    minLength: 1,
    maxLength: 6,
  })
  .map((steps) => `${steps.join('; ')}; true`);

for (const who of usualWho()) {
  describe(`undo in a ${who}`, () => {
    let ground: UndoGround;

    beforeAll(async () => {
      ground = await openUndoGround(who);
      ground.bench.host(
        "git init -q . && git config user.name a && git config user.email a@example.com && echo 'ign/' > .gitignore && git add -A && git commit -qm x",
      );
    });
    afterAll(() => ground.close());

    const wipe = (): void => {
      chmodSync(ground.bench.workspace, 0o755);
      for (const name of readdirSync(ground.bench.workspace))
        if (name !== '.git' && name !== '.gitignore') rmSync(join(ground.bench.workspace, name), { recursive: true });
    };
    const covered = (): Record<string, string> =>
      Object.fromEntries(Object.entries(ground.files()).filter(([name]) => !name.startsWith('ign/')));

    it('issue 19.5: puts the files back as they were before a call, whatever it did, and the undo can be undone', async () => {
      await fc.assert(
        fc.asyncProperty(script, script, async (first, second) => {
          wipe();
          await ground.call(first);
          const before = covered();
          const { changes } = await ground.call(second);
          const after = covered();
          if (JSON.stringify(before) === JSON.stringify(after)) {
            expect(changes?.ref ?? null).toBeNull();
            return;
          }
          await ground.undo.apply(ground.bench.workspace, changes?.ref ?? 'none', false);
          expect(covered()).toEqual(before);
          await ground.undo.apply(ground.bench.workspace, '', false);
          expect(covered()).toEqual(after);
        }),
        { numRuns: shapeRuns(12) },
      );
    });

    it('issue 19.5: never writes over what a person has changed since', async () => {
      await fc.assert(
        fc.asyncProperty(script, script, path, async (first, second, edited) => {
          wipe();
          await ground.call(first);
          const before = covered();
          const { changes } = await ground.call(second);
          if (changes?.ref == null) return;
          const record = await ground.undo.plan(ground.bench.workspace, changes.ref);
          const file = join(ground.bench.workspace, edited);
          if (!existsSync(file) || !(edited in covered())) return;
          ground.bench.host(`rm -f ${quoted(edited)} && echo of a person > ${quoted(edited)}`);
          const later = covered();
          const isConflict = record.files.some((one) => Buffer.from(one.path, 'latin1').toString() === edited);
          if (isConflict) {
            await expect(ground.undo.apply(ground.bench.workspace, changes.ref, false)).rejects.toMatchObject({
              code: 'CONFLICT',
            });
            expect(covered()).toEqual(later);
          }
          await ground.undo.apply(ground.bench.workspace, changes.ref, true);
          expect(readFileSync(file, 'utf8')).toBe('of a person\n');
          if (!isConflict) expect({ ...covered(), [edited]: '' }).toEqual({ ...before, [edited]: '' });
        }),
        { numRuns: shapeRuns(12) },
      );
    });

    it('issue 19.5: has the content of a file that only the person’s repository held, after a gc in the same call', async () => {
      wipe();
      ground.bench.host('head -c 3000 /dev/urandom | base64 > staged && git add staged');
      const held = ground.files();
      await ground.call('true');
      const { changes } = await ground.call('rm staged; git rm -q --cached staged; git gc -q --prune=now');
      expect(changes?.files).toContain('D staged');
      await ground.undo.apply(ground.bench.workspace, '', false);
      expect(ground.files()).toEqual(held);
    });

    it('issue 19.5: runs no program that a nested repository names, and says that it is not covered', async () => {
      wipe();
      ground.bench.host(
        'git init -q nested && cd nested && printf "#!/bin/sh\\ntouch %s/ran\\n" "$PWD" > spy && chmod +x spy && git config core.fsmonitor "$PWD/spy" && echo 1 > f',
      );
      await ground.call('true');
      const { changes } = await ground.call(
        'echo 2 > nested/f; mkdir ign; echo 3 > ign/x; head -c 17M /dev/zero > big; mkfifo pipe; echo 4 > plain',
      );
      expect(existsSync(join(ground.bench.workspace, 'nested/ran'))).toBe(false);
      expect(changes?.files).toEqual(['A plain']);
      expect([...(changes?.notCovered ?? [])].sort()).toEqual([
        'big: larger than 16 MiB',
        'ign/: ignored directory',
        'pipe: special file',
      ]);
    });

    it('issue 30.2.5: names files that are not covered only in calls that change them, whatever else a call does', async () => {
      wipe();
      const kinds = { large: 'larger than 16 MiB', 'd/large': 'larger than 16 MiB', pipe: 'special file' };
      const names = Object.keys(kinds);
      const change: Record<string, (name: string) => string> = {
        write: (name) => `[ -p ${name} ] && touch ${name} || printf x | dd of=${name} conv=notrunc status=none`,
        mode: (name) => `chmod 640 ${name}; chmod 600 ${name}`,
        replace: (name) => `cp -a ${name} copy && mv copy ${name}`,
        remove: (name) => `rm ${name}`,
      };
      const make = 'mkdir -p d; truncate -s 17M large d/large; [ -p pipe ] || mkfifo pipe';
      /** All of them make the keeper look at every file. */
      const others = ['mkdir n1', 'rmdir n1', 'mkdir -p n2/n3 && echo 1 >n2/n3/f', 'mv n2 n4', 'rm -rf n4', FLOOD];
      await ground.call(make);
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...others),
          fc.option(fc.tuple(fc.constantFrom(...names), fc.constantFrom(...Object.keys(change)))),
          async (other, changed) => {
            const [name = '', how = ''] = changed ?? [];
            const { changes } = await ground.call(`${other}; ${change[how]?.(name) ?? 'true'}; true`);
            const expected = Object.entries(kinds).flatMap(([path, why]) => (path === name ? [`${path}: ${why}`] : []));
            expect(changes?.notCovered ?? []).toEqual(expected);
            if (how === 'remove') await ground.call(make);
          },
        ),
        { numRuns: shapeRuns(20) },
      );
      wipe();
    });

    it('issue 19.5: starts no process for a call that changed nothing, and sees a file that is written in place', async () => {
      wipe();
      await ground.call('echo 1 > f');
      expect((await ground.call('cat f')).changes).toBeNull();
      expect((await ground.call('echo 2 >> f')).changes?.files).toEqual(['M f']);
    });

    it('issue 19.5: puts nothing back through a link, and nothing into a repository or a protected place', async () => {
      wipe();
      await ground.call('mkdir d && echo 1 > d/a');
      const { changes } = await ground.call('echo 2 > d/a');
      ground.bench.host('mv d elsewhere && ln -s elsewhere d');
      const plan = await ground.undo.apply(ground.bench.workspace, changes?.ref ?? '', true);
      expect(plan.files).toMatchObject([{ path: 'd/a', action: 'keep' }]);
      expect(readFileSync(join(ground.bench.workspace, 'elsewhere/a'), 'utf8')).toBe('2\n');
    });

    it('issue 19.5: goes on after a crash that cut the list of files and left half an object', async () => {
      wipe();
      await ground.call('echo 1 > f; echo 1 > g');
      const before = ground.files();
      const { changes } = await ground.call('echo 2 > f');
      const stores = join(ground.bench.home, 'data/undo');
      const [store = ''] = readdirSync(stores).filter((name) => existsSync(join(stores, name, 'store')));
      const list = join(stores, store, 'store/files');
      await ground.bench.sandbox.stop();
      writeFileSync(list, readFileSync(list, 'utf8').slice(0, -7));
      writeFileSync(join(stores, store, 'store/objects/tmp_obj_1_1'), 'half');
      await ground.bench.sandbox.launch();
      await ground.bench.sandbox.start();
      await undoOver(ground.bench).apply(ground.bench.workspace, changes?.ref ?? '', false);
      expect(ground.files()).toEqual(before);
      expect(existsSync(join(stores, store, 'store/objects/tmp_obj_1_1'))).toBe(false);
    });

    it('issue 19.5: goes on after a SIGKILL at any moment of keeping changes and of putting them back', async () => {
      wipe();
      await ground.call('for i in $(seq 60); do echo first > f$i; done');
      const before = covered();
      const { changes } = await ground.call('for i in $(seq 60); do echo second >> f$i; done; rm f1; echo new > n');
      const after = covered();
      const undo = undoOver(ground.bench);
      const kill = async (delayMs: number, work: () => Promise<unknown>): Promise<void> => {
        const { spawnerPid } = await ground.bench.sandbox.status();
        const done = work().catch(() => null);
        await new Promise((resolve) => setTimeout(resolve, delayMs));
        process.kill(spawnerPid ?? 0, 'SIGKILL');
        await done;
        const pid = async () => (await ground.bench.sandbox.status().catch(() => null))?.spawnerPid ?? spawnerPid;
        await expect.poll(pid).not.toBe(spawnerPid);
      };
      for (let step = 0; step < 4; step++) {
        await kill(step * 24, () => undo.apply(ground.bench.workspace, changes?.ref ?? '', false));
        await undoOver(ground.bench).apply(ground.bench.workspace, changes?.ref ?? '', true);
        expect(covered()).toEqual(before);
        ground.bench.host('for i in $(seq 60); do echo first > f$i; echo second >> f$i; done; rm f1; echo new > n');
        expect(covered()).toEqual(after);
        ground.bench.host(`echo ${step} > other`);
        await kill(step * 10, () => ground.bench.sandbox.snapshot(ground.bench.workspace, { do: 'sync' }));
        ground.bench.host('rm other');
      }
      expect((await ground.call('echo 3 > f3')).changes?.files).toEqual(['M f3']);
    });

    it('issue 30.2.3: keeps directories that were there before the call, with their modes, and removes those that it made', async () => {
      wipe();
      await ground.call('mkdir -p data/logs closed/in gone/deep; chmod 700 data closed gone/deep; chmod 555 closed/in');
      const before = ground.files();
      const { changes } = await ground.call(
        'echo n >data/logs/a; mkdir -p made/here; echo 1 >made/here/f; chmod 755 data closed/in; chmod 000 closed; rm -r gone; chmod 750 .',
      );
      expect([...(changes?.files ?? [])].sort()).toEqual([
        'A data/logs/a',
        'A made/here/f',
        'D gone/deep/',
        'M ./',
        'M closed/',
        'M closed/in/',
        'M data/',
      ]);
      await ground.undo.apply(ground.bench.workspace, '', false);
      expect(ground.files()).toEqual(before);
    });

    it('issue 30.2.3: keeps a directory that the call made if something else lies in it now', async () => {
      wipe();
      const { changes } = await ground.call('mkdir d; echo 1 >d/a');
      ground.bench.host('echo of a person >d/b');
      const { files } = await ground.undo.apply(ground.bench.workspace, changes?.ref ?? '', false);
      expect(files.find(({ path }) => path === 'd')).toMatchObject({ action: 'keep', why: 'it holds something else' });
      expect(ground.files()).toMatchObject({ 'd/b': '644 of a person\n' });
      expect(ground.files()).not.toHaveProperty('d/a');
    });

    it('issue 30.2.3: puts a file back into a directory that the owner may not write in', async () => {
      wipe();
      await ground.call('mkdir d; echo 1 >d/a; chmod 555 d');
      const before = ground.files();
      await ground.call('chmod 755 d; echo 2 >d/b; rm d/a; chmod 555 d');
      await ground.undo.apply(ground.bench.workspace, '', false);
      expect(ground.files()).toEqual(before);
    });

    it('issue 30.2.3: knows every change after more events than the kernel queues', async () => {
      wipe();
      await ground.call('echo 1 >.envrc-like; echo 1 >flood-a; echo 1 >flood-b');
      const before = ground.files();
      const { changes } = await ground.call(`${FLOOD}; echo 2 >.envrc-like; mkdir later; echo 2 >later/f`);
      expect(changes?.files).toEqual(expect.arrayContaining(['M .envrc-like', 'A later/f', 'M flood-a', 'M flood-b']));
      await ground.undo.apply(ground.bench.workspace, '', false);
      expect(ground.files()).toEqual(before);
    });

    it('issue 19.6: puts the files of a saved list back, but nothing that a person has changed, and keeps it while it is held', async () => {
      wipe();
      await ground.call('echo 1 > a; echo 1 > b; echo 1 > c; mkdir d; echo 1 > d/x');
      const saved = covered();
      const startedMs = Date.now();
      const { tree } = await ground.undo.save(ground.bench.workspace, 'a_test');
      // The same list of another holder, who does not need it any more.
      await ground.undo.save(ground.bench.workspace, 'another');
      await ground.undo.release(ground.bench.workspace, tree, 'another');
      await ground.call('echo 2 > a; rm -r d; echo 2 > new');
      await ground.call('echo 3 > a');
      const by = { tool: 'checkpoint_restore', session: 's', isPartial: false };
      // Contents that only the list needs survive the cleaning of everything else.
      const cleaner = undoOver(ground.bench);
      await cleaner.before(ground.bench.workspace, callId());
      await cleaner.clean([ground.bench.workspace]);
      ground.bench.host('echo of a person > b');
      await expect(ground.undo.restoreTree(ground.bench.workspace, tree, startedMs, by)).rejects.toMatchObject({
        code: 'CONFLICT',
        details: { paths: ['b'] },
      });
      await ground.undo.restoreTree(ground.bench.workspace, tree, startedMs, { ...by, isPartial: true });
      expect(covered()).toEqual({ ...saved, b: '644 of a person\n' });
      await ground.undo.apply(ground.bench.workspace, '', false);
      expect(covered()).toMatchObject({ a: '644 3\n', new: '644 2\n' });
      await ground.undo.release(ground.bench.workspace, tree, 'a_test');
    });

    it('issue 19.6: a saved list never costs a person’s change, whatever calls and people did after each other', async () => {
      const by = { tool: 'checkpoint_restore', session: 's', isPartial: false };
      const turn = fc.record({ who: fc.constantFrom('call', 'person'), what: script });
      await fc.assert(
        fc.asyncProperty(script, fc.array(turn, { minLength: 1, maxLength: 4 }), async (first, turns) => {
          wipe();
          await ground.call(first);
          const [saved, startedMs] = [covered(), Date.now()];
          const { tree } = await ground.undo.save(ground.bench.workspace, 'a_test');
          // A file may be where a directory was.
          const at = (files: Record<string, string>, path: string) => files[path] ?? files[`${path}/`];
          // By path, as the person left it last.
          const touched = new Map<string, string | undefined>();
          for (const { who, what } of turns) {
            if (who === 'call') {
              await ground.call(what);
              continue;
            }
            const before = covered();
            try {
              ground.bench.host(what);
            } catch {
              // Any of the steps may fail.
            }
            const after = covered();
            for (const path of new Set([...Object.keys(before), ...Object.keys(after)]))
              if (before[path] !== after[path])
                touched.set(path.replace(/\/$/, ''), at(after, path.replace(/\/$/, '')));
          }
          const last = covered();
          // A directory that a person made stays, and stops nothing.
          const isNewDirectory = (path: string): boolean =>
            path.endsWith('/') && at(saved, path.slice(0, -1)) === undefined;
          const differs = [...touched].filter(
            ([path]) => at(saved, path) !== at(last, path) && !(isNewDirectory(`${path}/`) && `${path}/` in last),
          );
          // To restore what a person has restored already costs nothing; it may be refused.
          const isLost = differs.some(([path, left]) => left !== at(saved, path));
          const restored = await ground.undo.restoreTree(ground.bench.workspace, tree, startedMs, by).then(
            () => null,
            (cause: unknown) => cause,
          );
          if (isLost || (differs.length > 0 && restored !== null)) {
            expect(restored).toMatchObject({ code: 'CONFLICT' });
            expect(covered()).toEqual(last);
          } else {
            expect(restored).toBeNull();
            expect(Object.fromEntries(Object.entries(covered()).filter(([path]) => !isNewDirectory(path)))).toEqual(
              saved,
            );
          }
        }),
        { numRuns: shapeRuns(12) },
      );
    });

    it('issue 19.6: looking at the files while a call works takes no change from its undo', async () => {
      wipe();
      await ground.call('echo 1 > f');
      const before = covered();
      const watched = await ground.undo.before(ground.bench.workspace, callId());
      await ground.bench.bash('echo 2 > f; echo 2 > g');
      const { tree } = await ground.undo.save(ground.bench.workspace, 'a_test');
      await ground.bench.bash('echo 3 > f');
      await ground.undo.planTree(ground.bench.workspace, tree, 0);
      const changes = watched === null ? null : await ground.undo.after(ground.bench.workspace, watched);
      expect(changes?.files).toEqual(['M f', 'A g']);
      await ground.undo.apply(ground.bench.workspace, changes?.ref ?? '', false);
      expect(covered()).toEqual(before);
    });

    it('issue 19.6: a saved list removes nothing that was there and not covered when it was saved', async () => {
      wipe();
      await ground.call('mkdir ign; echo 1 > ign/x; truncate -s 17M big; echo 1 > f');
      const startedMs = Date.now();
      const { tree, uncovered } = await ground.undo.save(ground.bench.workspace, 'a_test');
      expect([...uncovered].sort()).toEqual(['big: larger than 16 MiB', 'ign/: ignored directory']);
      await ground.call('truncate -s 1M big; echo 2 > f; sed -i d .gitignore');
      await ground.call('echo 2 > ign/x');
      const by = { tool: 'checkpoint_restore', session: 's', isPartial: false };
      await ground.undo.restoreTree(ground.bench.workspace, tree, startedMs, by);
      expect(ground.files()).toMatchObject({ 'ign/x': '644 2\n', f: '644 1\n', '.gitignore': '644 ign/\n' });
      expect(ground.files().big).toHaveLength(1024 * 1024 + 4);
      ground.bench.host('rm big');
    });

    it('issue 19.5: forgets the oldest changes if there are too many, and gives their space back', async () => {
      wipe();
      await ground.call('head -c 3M /dev/urandom > big');
      const { changes } = await ground.call('head -c 3M /dev/urandom > big');
      const newest = (await ground.call('head -c 3M /dev/urandom > big; echo 1 > small')).changes;
      const before = covered();
      const small = undoOver(ground.bench, { max_mb: 7 });
      await small.before(ground.bench.workspace, callId());
      await small.clean([ground.bench.workspace]);
      await expect(small.plan(ground.bench.workspace, changes?.ref ?? '')).rejects.toMatchObject({ code: 'NOT_FOUND' });
      expect((await small.plan(ground.bench.workspace, newest?.ref ?? '')).files).toHaveLength(2);
      expect(covered()).toEqual(before);
      await ground.undo.apply(ground.bench.workspace, newest?.ref ?? '', false);
      expect(covered()).not.toHaveProperty('small');
    });
  });
}
