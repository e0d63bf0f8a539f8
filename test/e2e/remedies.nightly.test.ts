import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, CTXD, type Finished, type Installation, install, ROOT } from '../helpers/installation.ts';
import { makeTool } from '../helpers/made-tool.ts';
import { commandsIn } from '../helpers/remedies.ts';

const AS = '-c user.name=a -c user.email=a@example.com';

interface Denied {
  kind: string;
  rule: string;
  how_to_allow: string;
}

type Refused = Answer & { meta: { denied?: Denied[] } };

let at: Installation;
let place: string;
let project: string;
beforeAll(async () => {
  at = await install({ settings: { 'sandbox.file_max_mb': '1' } });
  place = realpathSync(mkdtempSync(join(tmpdir(), 'remedies-')));
  project = join(place, 'shop');
  mkdirSync(project);
  expect(await at.run(CTXD, ['init'], { cwd: project })).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await at.remove();
  rmSync(place, { recursive: true, force: true });
});

const bash = (command: string): Promise<Refused> => at.ask('safe_bash', { command }, { cwd: project });

/** Types a command at a terminal in the project, as it was printed, and says yes if ctxd asks. */
async function type(command: string): Promise<string> {
  const env = { ...at.environment, PATH: `${ROOT}/bin:${process.env.PATH}` };
  const terminal = spawn('script', ['-qec', command, '/dev/null'], { cwd: project, env });
  const printed = text(terminal.stdout);
  // Stays open: `script` goes on for two seconds after the end of its input.
  terminal.stdin.write('y\n');
  const [code] = (await once(terminal, 'exit')) as [number];
  terminal.stdin.destroy();
  expect(code, `${command}: ${await printed}`).toBe(0);
  return printed;
}

/** The one command that a text names, with what its reader puts in the place of words in capitals. */
function commandIn(text: string, fill: Record<string, string> = {}): string {
  const named = commandsIn(text);
  expect(named, text).toHaveLength(1);
  return Object.entries(fill).reduce((command, [word, value]) => command.replace(word, value), named[0] ?? '');
}

const advice = ({ meta: { denied = [] } }: Refused): string => denied.map((one) => one.how_to_allow).join(' ');

describe('issue 30.3 the advice for a write beside the project leads to success', () => {
  it.each([
    ['a new directory', 'mkdir -p ../new', 'new'],
    ['a directory with a blank', "mkdir -p '../a b'", 'a b'],
    ['a directory with a quote', `mkdir -p "../it's"`, "it's"],
    ['a directory for git', `git init -q; git ${AS} commit -q --allow-empty -m x; git worktree add -f ../wt`, 'wt'],
  ])('%s', async (_what, command, name) => {
    const refused = await bash(command);
    expect(refused.data.exit_code).not.toBe(0);
    await type(commandIn(advice(refused)));
    expect(await bash(command)).toMatchObject({ data: { exit_code: 0 } });
    expect(existsSync(join(place, name))).toBe(true);
  });

  it.each([
    ['a new file', 'file2'],
    ['a file that exists', 'file1'],
    ['a file with a blank', 'my notes'],
    ['a link', 'link'],
    ['a broken link', 'broken'],
  ])('%s goes into a directory with a name that the person chooses', async (_what, file) => {
    writeFileSync(join(place, 'file1'), 'kept');
    rmSync(join(place, 'link'), { force: true });
    rmSync(join(place, 'broken'), { force: true });
    symlinkSync(join(place, 'file1'), join(place, 'link'));
    symlinkSync(join(place, 'nowhere'), join(place, 'broken'));
    const refused = await bash(`echo hi >"../${file}"`);
    expect(refused.data.exit_code).toBe(1);
    const chosen = `for-${file.replaceAll(' ', '-')}`;
    await type(commandIn(advice(refused), { DIRECTORY: chosen }));
    const named = /Then use (.+)\.$/.exec(advice(refused))?.[1] ?? '';
    const said = (named.startsWith('"') ? JSON.parse(named) : named).replace('DIRECTORY', chosen);
    expect(await bash(`echo hi >"${said}"`)).toMatchObject({ data: { exit_code: 0 } });
    expect(existsSync(said)).toBe(true);
  });

  it('does not depend on what the host has there', async () => {
    mkdirSync(join(place, 'known'), { recursive: true });
    const hints = await Promise.all(['known', 'absent'].map(async (name) => advice(await bash(`mkdir ../${name}`))));
    expect(hints[0]?.replaceAll('known', 'absent')).toBe(hints[1]?.replaceAll('known', 'absent'));
  });
});

describe('issue 30.2.6 the limit of one file', () => {
  it('is explained where it strikes, and is a setting', async () => {
    // Nothing but the status of a part of the pipeline, or the file itself, says that it was cut.
    const writing = 'dd if=/dev/zero of=big bs=64K count=40';
    for (const hidden of [
      `${writing} 2>&1 | tail -1`,
      `(${writing} 2>&1) | cat; rm -f none`,
      `python3 -c 'try: open("big","wb").write(b"0"*3000000)\nexcept OSError: pass'`,
      `x=$(${writing} 2>&1); echo done`,
    ]) {
      await bash('rm -f big');
      const cut = await bash(hidden);
      expect([hidden, cut.data.exit_code, cut.meta.denied?.map(({ kind }) => kind)]).toEqual([
        hidden,
        0,
        ['file_size'],
      ]);
    }
    expect((await bash('rm -f big; head -c 1000000 /dev/zero >big')).meta.denied).toBeUndefined();
    const command = 'dd if=/dev/zero of=big bs=64K count=40 2>/dev/null; stat -c %s big';
    for (const refused of [await bash(command), await bash(`trap "" XFSZ; ${command.replace('2>/dev/null', '')}`)]) {
      expect(refused.data.stdout).toBe('1048576\n');
      expect(refused.meta.denied).toEqual([
        expect.objectContaining({ kind: 'file_size', rule: expect.stringContaining('may have 1 MiB') }),
      ]);
    }
    const inWords = await at.run('.claude/tools/safe_bash/safe_bash', [command], { cwd: project });
    expect(inWords.stderr).toContain('[contextd denied: file_size (a file that a command writes may have 1 MiB');
    await type(commandIn(advice(await bash(command)), { MEBIBYTES: '4' }));
    await type('ctxd server restart');
    expect(await bash(command)).toMatchObject({ data: { stdout: `${40 * 65_536}\n` } });
  });
});

/** What a person types, and what is printed about it. */
async function attempt(command: string, cwd = project): Promise<Finished> {
  return at.run('/bin/sh', ['-c', command], { cwd, env: { PATH: `${ROOT}/bin:${process.env.PATH}` } });
}

/** A failure of ctxd, the command that its remedy names, and what the reader puts in the place of words in capitals. */
const WRONG: readonly (readonly [failing: string, remedy: string, fill?: Record<string, string>])[] = [
  ['ctxd config get nothing', 'ctxd config list'],
  ['ctxd tool remove nothing', 'ctxd tool install SOURCE', { SOURCE: './weather --yes' }],
  ['ctxd allow remove /nowhere', 'ctxd allow list'],
  ['ctxd network remove example.org', 'ctxd network list'],
  ['ctxd session show nothing', 'ctxd session list'],
  ['ctxd kill ABCDEFGH', 'ctxd ps'],
  ['ctxd scrub allow remove abcdef01', 'ctxd scrub allow list'],
  ['ctxd quarantine accept 0badcafe', 'ctxd quarantine list'],
  ['ctxd quarantine restore', 'ctxd quarantine list'],
  ['ctxd cache clear /nowhere', 'ctxd cache list'],
  ['ctxd branch merge br_00000000', 'ctxd branch list --all'],
  ['ctxd memory import', 'ctxd memory import --help'],
];

describe('issue 30.3 the remedy of a failure of ctxd leads to success', () => {
  it.each(WRONG.map(([failing, remedy, fill = {}]) => ({ failing, remedy, fill })))(
    '$failing: $remedy',
    async ({ failing, remedy, fill }) => {
      makeTool(join(project, 'weather'));
      const failed = await attempt(failing);
      expect(failed.code, failed.stdout).not.toBe(0);
      expect(commandsIn(failed.stderr), failed.stderr).toContain(remedy);
      await type(Object.entries(fill).reduce((command, [word, value]) => command.replace(word, value), remedy));
    },
  );
});

describe('issue 30.3 the remedy of an answer leads to success', () => {
  it('for a host: it is allowed, its denial is taken back, and the network is on again', async () => {
    const fetch = () => bash('curl -sS --max-time 5 https://example.com');
    const rules: string[] = [];
    await type('ctxd network deny example.com');
    for (const remedy of ['remove', 'allow']) {
      const hint = advice(await fetch());
      const command = commandsIn(hint).find((one) => one.startsWith(`ctxd network ${remedy}`)) ?? '';
      rules.push(command);
      await type(command);
    }
    expect(rules).toEqual(['ctxd network remove example.com', 'ctxd network allow example.com']);
    expect(advice(await fetch())).not.toContain('ctxd network allow');
    await type('ctxd network off');
    await type(commandIn(advice(await fetch())));
    expect(advice(await fetch())).not.toContain('ctxd network on');
  });

  it('for a file that was set aside: it is back', async () => {
    const { meta } = await bash('echo export A=1 >.envrc');
    const [warning = ''] = meta.warnings as string[];
    expect(existsSync(join(project, '.envrc'))).toBe(false);
    await type(commandIn(warning));
    expect(existsSync(join(project, '.envrc'))).toBe(true);
  });

  it('for an undo: it is taken back', async () => {
    await bash('echo one >undone.txt');
    const undone = await type('ctxd undo');
    expect(existsSync(join(project, 'undone.txt'))).toBe(false);
    await type(commandIn(undone));
    expect(existsSync(join(project, 'undone.txt'))).toBe(true);
  });

  it('for a daemon that does not run: it runs', async () => {
    await type('ctxd server stop');
    const failed = await attempt('ctxd ps');
    await type(commandIn(failed.stderr));
    await type('ctxd ps');
  });
});
