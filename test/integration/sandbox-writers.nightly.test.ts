import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { QuarantinedItem } from '#src/guard/contract/quarantine.js';
import type { CommandResult } from '#src/sandbox/contract/command.js';
import { type Bench, type Outcome, openBench, usualWho } from '../fixtures/sandbox-harness.ts';

/** How programs save a file or make a directory, as a script with a text to save. */
type Save = (text: string) => string;

/** Names that are protected and that nothing is at when the command starts. */
const NEW: readonly (readonly [how: string, path: string, save: Save])[] = [
  ['a file in place', '.envrc', (text) => `echo ${text} >.envrc`],
  ['a file through a renamed draft', '.bashrc', (text) => `echo ${text} >draft; mv draft .bashrc`],
  ['a file that it removes first', '.zshrc', (text) => `rm -f .zshrc; echo ${text} >.zshrc; chmod 600 .zshrc`],
  ['a directory', '.idea', (text) => `mkdir -p .idea; echo ${text} >.idea/workspace.xml`],
  ['a renamed directory', '.vscode', (text) => `rm -rf .vscode; mkdir d; echo ${text} >d/a; mv d .vscode`],
  ['a link', '.mcp.json', (text) => `ln -sfn ${text} .mcp.json`],
  ['a file below a new directory', 'sub/.envrc', (text) => `mkdir -p sub; echo ${text} >sub/.envrc`],
];

/** What exists before and is mounted read-only. */
const OWN = 'mkdir .idea; echo mine >.idea/workspace.xml; echo mine >.bashrc';

/** Says that it runs, and goes on until a program on the host has made `go`. */
const UNTIL_GO = 'echo >up; until [ -e go ]; do sleep 0.02; done';

describe.each(usualWho())('while a command runs, %s', (who) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench(who);
  });
  beforeEach(() => bench.newWorkspace());
  afterAll(() => bench.close());

  const there = (path: string) => lstatSync(join(bench.workspace, path), { throwIfNoEntry: false }) !== undefined;
  const appears = (path: string) => expect.poll(() => there(path)).toBe(true);
  const items = async (): Promise<readonly QuarantinedItem[]> =>
    (await bench.sandbox.quarantine(bench.policy(), { kind: 'list', which: null })).items;

  /** Runs a call and, when it has begun, `meanwhile`; then lets it end. */
  async function call(script: string, meanwhile: () => unknown): Promise<Outcome> {
    const running = bench.bash(script);
    await appears('up');
    await meanwhile();
    bench.host('rm up; touch go');
    const outcome = await running;
    bench.host('rm go');
    return outcome;
  }

  test.each(NEW)(
    'SEC-2.3: a program on the host saves %s again and again: the call ends by itself',
    async (_, path, save) => {
      const { exitCode, endedBy, raw } = await call(UNTIL_GO, () => {
        for (const text of ['one', 'two', 'three']) bench.host(save(text));
      });
      expect({ exitCode, endedBy }).toEqual({ exitCode: 0, endedBy: 'exit' });
      expect(raw.quarantined.map((one) => one.path)).toEqual([path]);
      const [item] = await items();
      expect(item?.preview).toMatch(/three|workspace\.xml|^a$/);
      await bench.sandbox.quarantine(bench.policy(), { kind: 'restore', which: item?.id ?? '' });
      expect((await bench.bash('true')).quarantined).toEqual([]);
      expect(bench.host(`ls -d ${path}`)).toBe(`${path}\n`);
    },
  );

  test('SEC-2.3: what a person writes where a mount keeps the call from writing stays', async () => {
    bench.host(OWN);
    const { exitCode, quarantined } = await call(UNTIL_GO, () => {
      for (const text of ['one', 'two']) {
        bench.host(
          `echo ${text} >.bashrc; chmod 640 .bashrc; echo ${text} >.idea/new; mv .idea/new .idea/workspace.xml`,
        );
      }
    });
    expect({ exitCode, quarantined }).toEqual({ exitCode: 0, quarantined: [] });
    expect(bench.host('cat .bashrc .idea/workspace.xml')).toBe('two\ntwo\n');
  });

  test('SEC-2.3: a file that a person put in the place of a mounted one could then be written: it is set aside once', async () => {
    bench.host(OWN);
    const { exitCode, quarantined, out } = await call(`${UNTIL_GO}; echo added >>.bashrc && echo written`, () => {
      bench.host('echo new >draft; mv draft .bashrc');
    });
    expect({ exitCode, quarantined, out }).toEqual({ exitCode: 0, quarantined: ['.bashrc'], out: 'written\n' });
    expect((await items())[0]?.preview).toBe('new\nadded');
  });

  test.each(NEW)('SEC-2.3: a loop in the call that saves %s leaves nothing behind', async (_, path, save) => {
    const loop = `(while :; do ${save('evil')}; sleep 0.01; done) & ${UNTIL_GO}`;
    const { exitCode, quarantined } = await call(loop, () => appears(path));
    expect(exitCode).toBe(0);
    // It may have removed the last one itself when it was killed.
    expect([[path], []]).toContainEqual(quarantined);
    expect(there(path)).toBe(false);
  });

  test('SEC-2.3: a person and a loop in the call save the same name: nothing is left behind and nothing is lost', async () => {
    const { exitCode, quarantined } = await call(
      `(while :; do echo evil >.envrc; sleep 0.01; done) & ${UNTIL_GO}`,
      () => {
        for (const text of ['one', 'two']) bench.host(`echo ${text} >draft; mv draft .envrc;`);
      },
    );
    expect({ exitCode, quarantined }).toEqual({ exitCode: 0, quarantined: ['.envrc'] });
    expect(there('.envrc')).toBe(false);
    expect(await items()).toHaveLength(1);
  });

  describe('which is a job', () => {
    let abort: AbortController;
    let found: string[];
    let ended: Promise<CommandResult>;

    async function begin(script: string): Promise<void> {
      abort = new AbortController();
      found = [];
      const job = bench.sandbox.begin(
        bench.policy(),
        {
          argv: ['bash', '-c', script],
          cwd: bench.workspace,
          env: {},
          timeoutMs: 120_000,
          outputMaxBytes: 0,
          outputKillBytes: 0,
          signal: abort.signal,
          onOutput: () => {},
        },
        (paths) => found.push(...paths.map(({ path }) => path)),
      );
      ({ ended } = job);
      await job.started;
    }

    /** Ends the job as a person does. Returns the paths that its end set aside, with those of before. */
    async function end(): Promise<string[]> {
      abort.abort();
      const { endedBy, quarantined } = await ended;
      expect(endedBy).toBe('cancelled');
      return quarantined.map(({ path }) => path);
    }

    test('SEC-2.3: a name that it makes again is set aside once, and once more at its end', async () => {
      await begin('while :; do [ -e .envrc ] || echo evil >.envrc; sleep 0.01; done');
      await expect.poll(() => found, { timeout: 60_000 }).toEqual(['.envrc']);
      await appears('.envrc');
      expect((await bench.bash('true')).exitCode).toBe(0);
      expect(there('.envrc')).toBe(true);
      expect(await end()).toEqual(['.envrc']);
      expect(found).toEqual(['.envrc']);
      expect(there('.envrc')).toBe(false);
      expect((await items()).map(({ path }) => path)).toEqual(['.envrc', '.envrc']);
    });

    test('SEC-2.3: a name that a person makes again stays while it runs, with what was saved last', async () => {
      await begin('sleep 120');
      bench.host('mkdir .idea; echo one >.idea/workspace.xml');
      await expect.poll(() => found, { timeout: 60_000 }).toEqual(['.idea']);
      bench.host('mkdir .idea; echo two >.idea/workspace.xml');
      for (const _ of [1, 2]) expect((await bench.bash('true')).exitCode).toBe(0);
      expect(readFileSync(join(bench.workspace, '.idea/workspace.xml'), 'utf8')).toBe('two\n');
      await end();
      expect(found).toEqual(['.idea']);
      const texts = (await items()).map(({ moved }) => readFileSync(join(moved, 'workspace.xml'), 'utf8'));
      expect(texts.sort()).toEqual(['one\n', 'two\n']);
    });

    test('SEC-2.3: names that it makes again and again keep no other call from starting', async () => {
      bench.host('mkdir v');
      await begin(
        'while :; do rm -f v/.envrc .bashrc; echo x >v/.envrc; echo x >.bashrc; rm -rf .vscode; mkdir .vscode; done',
      );
      await expect.poll(() => found.length, { timeout: 60_000 }).toBeGreaterThan(2);
      for (let i = 0; i < 10; i++) expect((await bench.bash('echo ok')).out).toBe('ok\n');
      await end();
    });

    test('SEC-2.3: a file that a person puts in the place of a mounted one stays while it runs', async () => {
      bench.host(OWN);
      await begin('echo >up; sleep 120');
      // Before that, its sandbox may be starting, and starts again if a file that it mounts is replaced.
      await expect.poll(() => existsSync(join(bench.workspace, 'up'))).toBe(true);
      bench.host('echo new >draft; mv draft .bashrc');
      for (const _ of [1, 2]) expect((await bench.bash('true')).exitCode).toBe(0);
      expect(readFileSync(join(bench.workspace, '.bashrc'), 'utf8')).toBe('new\n');
      expect(await end()).toEqual(['.bashrc']);
    });
  });
});
