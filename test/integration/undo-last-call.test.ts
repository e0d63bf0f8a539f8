import { existsSync, lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openBench, usualWho } from '../fixtures/sandbox-harness.ts';
import { callId, openUndoGround, type UndoGround, undoOver } from '../fixtures/undo-ground.ts';
import { appears } from '../helpers/appears.ts';

for (const who of usualWho()) {
  describe(`the last call in a ${who}`, () => {
    let ground: UndoGround;
    const plan = (which = '') => ground.undo.plan(ground.bench.workspace, which);
    const undoLast = () => ground.undo.apply(ground.bench.workspace, '', false);
    const path = (name: string): string => join(ground.bench.workspace, name);
    const read = (name: string): string => readFileSync(path(name), 'utf8');

    beforeAll(async () => {
      ground = await openUndoGround(who);
      ground.bench.host(
        `git init -q . && git config user.name a && git config user.email a@example.com
        printf 'node_modules/\\n__pycache__/\\n*.pyc\\n*.log\\n' > .gitignore
        mkdir -p node_modules/x nested && echo good > node_modules/x/i && git init -q nested && echo 1 > nested/f
        echo 1 > tracked.log && git add -f tracked.log .gitignore && git commit -qm x`,
      );
      await ground.call('true');
    });
    beforeEach(async () => {
      ground.bench.host('rm -f mod.py f');
      await ground.call('echo 1 > mod.py; echo 1 > f');
    });
    afterAll(() => ground.close());

    describe.each([
      ['writes a file', 'echo evil > node_modules/x/i'],
      ['appends to a file', 'echo evil >> node_modules/x/i'],
      ['goes there first', 'cd node_modules/x && echo evil > i'],
      ['adds a file', 'echo evil > node_modules/x/new'],
      ['removes a file', 'echo evil > node_modules/x/gone && rm node_modules/x/gone'],
      ['changes a mode', 'chmod 755 node_modules/x/i; chmod 644 node_modules/x/i'],
    ])('that %s in an ignored directory that it names', (_, script) => {
      it('issue 31.7 is not passed over for the call before', async () => {
        const { changes } = await ground.call('echo work >> f');
        await ground.call(script);
        await ground.call('cat f');
        await expect(plan()).rejects.toMatchObject({
          code: 'CONFLICT',
          message: expect.stringMatching(
            /changed only what undo does not cover: node_modules\/x\/.*\(ignored directory\)/,
          ),
          remedy: expect.stringContaining(`\`ctxd undo ${changes?.ref}\``),
        });
        expect(read('f')).toBe('1\nwork\n');
        expect((await plan(changes?.ref ?? '')).files).toMatchObject([{ path: 'f', action: 'restore' }]);
      });
    });

    it('issue 31.7 is not passed over for the call before if it removes the ignored directory, or writes to a nested repository', async () => {
      await ground.call('echo work >> f');
      await ground.call('rm -rf node_modules; mkdir -p node_modules/x; echo good > node_modules/x/i');
      await expect(plan()).rejects.toMatchObject({ code: 'CONFLICT' });
      await ground.call('echo work >> f');
      expect((await plan()).files).toMatchObject([{ path: 'f' }]);
      await ground.call('echo 2 > nested/f');
      await expect(plan()).rejects.toMatchObject({
        message: expect.stringContaining('nested/f (nested repository)'),
      });
    });

    it('issue 31.7 is the edit, not the by-products of what ran after it, and the undo names the calls that it skips', async () => {
      await ground.call('echo broken > mod.py');
      const compiled = 'require("fs").mkdirSync(["__py", "cache__"].join(""), { recursive: true })';
      writeFileSync(
        path('tool.cjs'),
        `${compiled}; require("fs").writeFileSync(["__py", "cache__/a"].join(""), process.pid + "")`,
      );
      const first = await ground.call('node tool.cjs');
      await ground.call('node tool.cjs');
      const file = await ground.call('echo 1 > mod.pyc');
      const { skipped, record, files } = await plan();
      expect(files).toMatchObject([{ path: 'mod.py', action: 'restore' }]);
      expect(record.changes.map((change) => change.path)).toEqual(['mod.py']);
      expect(new Set(skipped.map(({ verdict }) => verdict))).toEqual(new Set(['byproducts']));
      expect(skipped[0]?.record?.ref).toBe(file.changes?.ref);
      expect(skipped.flatMap(({ notCovered }) => notCovered.map((one) => one.path))).toContain('__pycache__/a');
      expect(first.outcome.exitCode).toBe(0);
      await undoLast();
      expect(read('mod.py')).toBe('1\n');
      expect(existsSync(path('mod.pyc'))).toBe(true);
      await ground.undo.apply(ground.bench.workspace, file.changes?.ref ?? '', false);
      expect(existsSync(path('mod.pyc'))).toBe(false);
    });

    it('issue 31.7 is not the byte code of an import, also if the project lists it nowhere', async () => {
      ground.bench.host('rm -rf __pycache__; mv .gitignore .git/kept');
      await ground.call('true');
      await ground.call('echo 2 > mod.py');
      await ground.call('mkdir __pycache__; echo 1 > __pycache__/mod.cpython-311.pyc');
      expect((await plan()).files).toMatchObject([{ path: 'mod.py', action: 'restore' }]);
      ground.bench.host('rm -rf __pycache__; mv .git/kept .gitignore');
      await ground.call('true');
    });

    it('issue 31.7 counts a tracked file as a source, whatever pattern it fits, as git does', async () => {
      await ground.call('echo 2 > other.log');
      expect((await plan()).skipped).toHaveLength(1);
      await ground.call('echo 2 > tracked.log');
      expect((await plan()).files).toMatchObject([{ path: 'tracked.log', action: 'restore' }]);
    });

    it('issue 31.7 says so if calls changed only what git ignores', async () => {
      await ground.undo.forget(ground.bench.workspace);
      await ground.call('true');
      await ground.call('echo 2 > only.log');
      await expect(plan()).rejects.toMatchObject({
        code: 'NOT_FOUND',
        message: expect.stringContaining('git ignores'),
      });
    });

    it('issue 31.7 puts every name of a file with several names back, as one file', async () => {
      ground.bench.host('echo 1 > h1; ln h1 h2; mkdir -p d; ln h1 d/h3');
      await ground.call('true');
      const { changes } = await ground.call('echo zz >> h2');
      expect([...(changes?.files ?? [])].sort()).toEqual(['M d/h3', 'M h1', 'M h2']);
      await undoLast();
      for (const name of ['h1', 'h2', 'd/h3']) expect(read(name)).toBe('1\n');
      expect(lstatSync(path('h1')).nlink).toBe(3);
      expect((await ground.call('chmod 600 h1')).changes?.files).toHaveLength(3);
      await undoLast();
      expect(lstatSync(path('d/h3')).mode & 0o777).toBe(0o644);
      ground.bench.host('rm h1 h2 d/h3');
    });

    it('issue 31.7 names a file whose other name no undo covers', async () => {
      ground.bench.host('echo 1 > h1; ln h1 node_modules/h2');
      await ground.call('true');
      const { changes } = await ground.call('echo zz >> h1');
      expect(changes).toMatchObject({ files: ['M h1'], notCovered: ['h1: its other hard links'] });
      expect((await plan()).notCovered).toContainEqual({ path: 'h1', why: 'its other hard links' });
      ground.bench.host('rm h1 node_modules/h2');
    });

    it('issue 31.7 is a call that was killed with contextd, in the next one', async () => {
      await ground.call('echo before > p1');
      const dying = undoOver(ground.bench);
      const call = callId();
      await dying.before(ground.bench.workspace, call, '');
      const { spawnerPid } = await ground.bench.sandbox.status();
      const running = ground.bench.bash('for i in $(seq 60); do echo $i > k$i; done; sleep 100').catch(() => null);
      await appears(ground.bench.workspace, 'k60');
      process.kill(spawnerPid ?? 0, 'SIGKILL');
      await running;
      const next = undoOver(ground.bench);
      const { record, files } = await retried(() => next.plan(ground.bench.workspace, ''));
      expect(record).toMatchObject({ requestId: call.requestId, isCutShort: true });
      expect(record.cutShortBeside).toBeUndefined();
      expect(files).toHaveLength(60);
      expect((await next.list(ground.bench.workspace, 5))[0]).toMatchObject({
        requestId: call.requestId,
        verdict: 'work',
      });
      await next.apply(ground.bench.workspace, '', false);
      expect(existsSync(path('k1'))).toBe(false);
      expect(read('p1')).toBe('before\n');
      // It is over: nothing later is taken for its work.
      ground.bench.host('echo of a person > k1');
      expect((await undoOver(ground.bench).plan(ground.bench.workspace, '')).record.tool).toBe('undo');
      rmSync(path('k1'));
    });

    it('NFR-2.3 is on one record that names the other calls which ended with contextd', async () => {
      await ground.call('echo before > several');
      const dying = undoOver(ground.bench);
      const calls = [callId(), callId(), callId()];
      for (const call of calls) await dying.before(ground.bench.workspace, call, '');
      await ground.bench.bash('echo one > several; echo two > several2');
      const next = undoOver(ground.bench);
      const { record } = await retried(() => next.plan(ground.bench.workspace, ''));
      const ids = calls.map(({ requestId }) => requestId);
      expect([record.requestId, ...(record.cutShortBeside ?? [])].sort()).toEqual(ids.sort());
      for (const id of ids)
        expect(await next.changesOfCutShort(ground.bench.workspace, id, 0)).toMatchObject({
          changes: { ref: record.ref },
          beside: [],
        });
      await next.apply(ground.bench.workspace, '', false);
      expect(read('several')).toBe('before\n');
    });

    it('issue 31.7 stops at a call that was cut short if nobody knows what it changed', async () => {
      await ground.call('echo before > p2');
      const dying = undoOver(ground.bench);
      const call = callId();
      await dying.before(ground.bench.workspace, call, '');
      await ground.bench.bash('echo lost > p2');
      // As if the disk had lost it: the next look is the first.
      await ground.bench.sandbox.snapshot(ground.bench.workspace, { do: 'drop' });
      await expect(undoOver(ground.bench).plan(ground.bench.workspace, '')).rejects.toMatchObject({
        code: 'CONFLICT',
        message: expect.stringContaining('its changes are not known'),
      });
      expect(read('p2')).toBe('lost\n');
    });
  });
}

/** The spawner starts again by itself. */
async function retried<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (cause) {
      if (tries > 200) throw cause;
    }
  }
}

describe('the first look at the files of a project', () => {
  it.each([
    ['is taken ahead of the first call', true],
    ['is not taken if undo is off', false],
  ])('issue 37 %s', async (_, enabled) => {
    const bench = await openBench(usualWho()[0]);
    try {
      const undo = undoOver(bench, { enabled });
      await undo.prepare(bench.workspace);
      const next = await bench.sandbox.snapshot(bench.workspace, { do: 'sync' });
      expect(next?.isFirst).toBe(!enabled);
      await undo.forget(bench.workspace);
    } finally {
      await bench.close();
    }
  });
});
