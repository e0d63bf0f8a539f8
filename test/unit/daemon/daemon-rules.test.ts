import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readEnvironment } from '#src/config/env.js';
import { resolvePaths } from '#src/config/paths.js';
import { ContextdError } from '#src/core/errors.js';
import { checkProjectRoot } from '#src/features/projects/project-root.js';
import { findBadLinks } from '#src/features/projects/registered-projects.js';
import { CallFigures } from '#src/features/shared/call-figures.js';
import { createCallGate } from '#src/features/shared/call-gate.js';

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'rules-')));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

describe('a project to register', () => {
  const pathsBelow = (home: string) =>
    resolvePaths(
      { ...readEnvironment({ HOME: home }), contextdHome: join(base, 'home/.ctx') },
      join(base, 'install/contextd'),
    );
  const check = (root: string): Promise<void> =>
    checkProjectRoot(root, join(base, 'home'), pathsBelow(join(base, 'home')));

  beforeEach(() => {
    for (const dir of ['home/.ctx/state', 'home/work', 'install/contextd/src', 'elsewhere'])
      mkdirSync(join(base, dir), { recursive: true });
  });

  it.each(['home/work', 'elsewhere'])('may be %s', async (dir) => {
    await expect(check(join(base, dir))).resolves.toBeUndefined();
  });

  it.each([
    ['the file system root', '/'],
    ['the home directory', 'home'],
    ['an ancestor of it', '.'],
    ["contextd's own directory", 'home/.ctx'],
    ['a place inside its state', 'home/.ctx/state'],
    ['the installation', 'install/contextd'],
    ['a place inside the installation', 'install/contextd/src'],
    ['what holds the installation', 'install'],
    ['nothing', 'nowhere'],
  ])('may not be %s', async (_what, dir) => {
    const root = dir === '/' ? '/' : join(base, dir);
    await expect(check(root)).rejects.toMatchObject({ code: 'PATH_INVALID' });
  });

  it('may not be a directory that all users share, as /tmp is; one that everybody may write is a container', async () => {
    chmodSync(join(base, 'elsewhere'), 0o1777);
    await expect(check(join(base, 'elsewhere'))).rejects.toMatchObject({
      code: 'PATH_INVALID',
      message: expect.stringContaining('it is a directory that all users share'),
    });
    for (const mode of [0o777, 0o1755]) {
      chmodSync(join(base, 'elsewhere'), mode);
      await expect(check(join(base, 'elsewhere'))).resolves.toBeUndefined();
    }
  });

  it('may not be a file, a link or a relative path', async () => {
    writeFileSync(join(base, 'file'), '');
    symlinkSync(join(base, 'elsewhere'), join(base, 'link'));
    for (const root of [join(base, 'file'), join(base, 'link'), 'elsewhere']) {
      await expect(check(root)).rejects.toMatchObject({ code: 'PATH_INVALID' });
    }
  });
});

describe('SEC-4.2 links of registered projects are verified at startup', () => {
  it('finds links that are missing, replaced or lead elsewhere', async () => {
    const proxy = join(base, 'proxy');
    writeFileSync(proxy, '');
    for (const name of ['good', 'elsewhere', 'copied', 'gone'])
      mkdirSync(join(base, '.claude/tools', name), { recursive: true });
    symlinkSync(proxy, join(base, '.claude/tools/good/good'));
    symlinkSync('/bin/sh', join(base, '.claude/tools/elsewhere/elsewhere'));
    writeFileSync(join(base, '.claude/tools/copied/copied'), '');
    const tools = ['good', 'elsewhere', 'copied', 'gone'].map((name) => ({
      name,
      bundleSha256: '',
      origin: 'core' as const,
      grants: [],
    }));
    const bad = await findBadLinks([{ root: base, tools }], proxy);
    expect(bad.map(({ found }) => found)).toEqual(['a link to /bin/sh', 'not a link', 'unreadable (ENOENT)']);
  });
});

describe('the gate of the daemon', () => {
  const request = {
    requestId: 'req_00000000000000000000000000',
    principal: { door: 'grpc', client: 'proxy' } as const,
    tool: 'x',
    projectRoot: '/p',
    sessionHint: '',
    branchHint: '',
    inputJson: Buffer.from('{}'),
    inputText: null,
    form: 'json' as const,
    cwd: '/p',
    signal: new AbortController().signal,
  };
  const refuse = (_request: unknown, why: ContextdError) => ({ line: why.code, exitCode: 69, errorLine: why.message });

  it('NFR-2.3 waits for running calls and admits no new ones', async () => {
    let finish = (): void => {};
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const gate = createCallGate(
      async () => {
        await held;
        return { line: 'done', exitCode: 0, errorLine: '' };
      },
      { refuse, retire: async () => {}, callFigures: new CallFigures() },
    );
    const call = gate.dispatch(request);
    const drained = gate.drain(60_000, 'stop');
    await expect(gate.dispatch(request)).rejects.toMatchObject({ code: 'DAEMON_UNAVAILABLE' });
    expect(gate.active()).toBe(1);
    finish();
    expect(await drained).toEqual({ waited: 1, ended: 0 });
    expect(await gate.drained).toEqual({ waited: 1, ended: 0 });
    expect((await call).line).toBe('done');
    expect(gate.answered()).toBe(1);
  });

  it.each([
    ['stop', 'contextd was stopped by a person (`ctxd server stop`) while x ran'],
    ['restart', 'contextd was restarted by a person (`ctxd server restart`) while x ran'],
    ['signal', 'contextd was stopped by a signal while x ran'],
    ['failure', 'contextd had to stop because its state database failed while x ran'],
  ] as const)('NFR-2.3 ends calls past the grace period with the reason and the remedy (%s)', async (cause, said) => {
    const gate = createCallGate(
      ({ signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve(refuse(request, signal.reason)))),
      { refuse, retire: async () => {}, callFigures: new CallFigures() },
    );
    const call = gate.dispatch(request);
    expect(await gate.drain(0, cause)).toEqual({ waited: 1, ended: 1 });
    expect(await call).toMatchObject({ line: 'INTERRUPTED', errorLine: expect.stringContaining(said) });
  });

  it('passes on that the caller went away', async () => {
    const gone = new AbortController();
    const gate = createCallGate(
      ({ signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve(refuse(request, signal.reason)))),
      { refuse, retire: async () => {}, callFigures: new CallFigures() },
    );
    const call = gate.dispatch({ ...request, signal: gone.signal });
    gone.abort(new ContextdError('CANCELLED', 'gone'));
    expect((await call).line).toBe('CANCELLED');
  });

  it('counts a failed call as ended', async () => {
    const gate = createCallGate(() => Promise.reject(new ContextdError('INTERNAL_ERROR', 'x')), {
      refuse,
      retire: async () => {},
      callFigures: new CallFigures(),
    });
    await expect(gate.dispatch(request)).rejects.toThrow('x');
    expect(gate.active()).toBe(0);
  });

  /** A gate whose calls end when they are taken back, and what it did with them, in order. */
  function takingBack() {
    const done: string[] = [];
    const gate = createCallGate(
      async ({ requestId, signal }) => {
        done.push(`begins ${requestId === 'req_1' ? 'first' : 'again'}`);
        if (requestId === 'req_1')
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        return { line: 'done', exitCode: 0, errorLine: '' };
      },
      {
        refuse,
        retire: async ({ requestId }) => void done.push(`retires ${requestId}`),
        callFigures: new CallFigures(),
      },
    );
    return { gate, done };
  }

  it('NFR-2.3: runs a call that was taken back under another id only after the first id can no longer run', async () => {
    const { gate, done } = takingBack();
    const call = gate.dispatch({ ...request, requestId: 'req_1' });
    const held = gate.hold();
    held.withdraw(() => false);
    await expect.poll(() => gate.active()).toBe(0);
    expect(done).toEqual(['begins first']);
    held.goOn();
    expect(await call).toMatchObject({ line: 'done' });
    expect(done).toEqual(['begins first', 'retires req_1', 'begins again']);
  });

  it('NFR-2.3: does not take back a call that was asked for again, whose answer says what became of its first run', async () => {
    const { gate, done } = takingBack();
    const gone = new AbortController();
    const call = gate.dispatch({ ...request, requestId: 'req_1', isAskedAgain: true, signal: gone.signal });
    const held = gate.hold();
    held.withdraw(() => false);
    expect(gate.active()).toBe(1);
    gone.abort();
    expect(await call).toMatchObject({ line: 'done' });
    held.goOn();
    expect(done).toEqual(['begins first']);
  });
});
