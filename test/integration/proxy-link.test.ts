import { spawn } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Bench, BUILDS, type CallOptions } from '../fixtures/proxy-daemon/bench.ts';

describe.each(BUILDS)('the links of the %s proxy', (build) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await Bench.create(build);
    await bench.serve({
      onCall({ request, answer }) {
        const { project_root, session_id } = request.context;
        answer({
          envelope_json: Buffer.from(JSON.stringify([request.tool, project_root, session_id].filter(Boolean))),
        });
      },
    });
  });
  afterAll(() => bench.remove());

  async function reach(options: CallOptions): Promise<unknown> {
    const { stdout, code } = await bench.run(['{}'], options);
    const answer = JSON.parse(stdout);
    return Array.isArray(answer)
      ? answer
      : { code, error_code: answer.data.error_code, error: `${answer.error}. ${answer.data.remediation}` };
  }

  function refused(words: RegExp | string) {
    const error = typeof words === 'string' ? expect.stringContaining(words) : expect.stringMatching(words);
    return { code: 4, error_code: 'INTEGRITY_FAILED', error };
  }

  it('FR-1.1 FR-1.2 let one binary serve every tool by the name of the link', async () => {
    const other = join(bench.project, '.claude/tools/art_view/art_view');
    mkdirSync(dirname(other));
    symlinkSync(bench.proxy, other);
    expect(await reach({ program: other })).toEqual(['art_view', bench.project]);
    expect(await reach({ program: bench.link })).toEqual(['safe_bash', bench.project]);
  });

  it('call the tool jobs by safe_jobs in .claude/bin, because jobs is a builtin of shells', async () => {
    const bin = dirname(bench.binLink);
    for (const name of ['jobs', 'safe_jobs']) {
      symlinkSync(bench.proxy, join(bin, name));
      expect(await reach({ program: join(bin, name) })).toEqual(['jobs', bench.project]);
    }
  });

  it('FR-1.2 lead to the project as relative links, in .claude/bin and through PATH', async () => {
    const bin = dirname(bench.binLink);
    const found = ['safe_bash', bench.project];
    expect(await reach({ program: '.claude/tools/safe_bash/safe_bash' })).toEqual(found);
    expect(await reach({ program: './safe_bash', cwd: bin })).toEqual(found);
    const below = join(bench.project, 'src');
    mkdirSync(below, { recursive: true });
    expect(await reach({ program: 'safe_bash', cwd: below, env: { PATH: `${bin}:/usr/bin:/bin` } })).toEqual(found);
    expect(await reach({ program: 'safe_bash', env: { PATH: '.claude/bin:/usr/bin:/bin' } })).toEqual(found);
  });

  it('name the project by the path as called if .claude leads elsewhere, and the project itself is resolved', async () => {
    const borrowed = join(bench.root, 'borrowed');
    mkdirSync(borrowed);
    symlinkSync(join(bench.project, '.claude'), join(borrowed, '.claude'));
    expect(await reach({ program: join(borrowed, '.claude/bin/safe_bash') })).toEqual(['safe_bash', borrowed]);
    symlinkSync(bench.project, join(bench.root, 'alias'));
    expect(await reach({ program: join(bench.root, 'alias/.claude/bin/safe_bash') })).toEqual([
      'safe_bash',
      bench.project,
    ]);
  });

  it('SEC-4.3 are refused outside the installed place', async () => {
    const copies = [copyFileSync, linkSync].map((copy, i) => {
      const place = join(bench.project, `.claude/tools/copy${i}/copy${i}`);
      mkdirSync(dirname(place));
      copy(bench.proxy, place);
      return place;
    });
    for (const place of copies) {
      expect(await reach({ program: place })).toEqual(refused(`${place} but was installed at ${bench.proxy}`));
    }
  });

  it('SEC-4.3 are refused if directory, link and tool names differ', async () => {
    const wrong = join(bench.project, '.claude/tools/safe_bash/other');
    symlinkSync(bench.proxy, wrong);
    expect(await reach({ program: wrong })).toEqual(refused(/other does not match its directory/));
    const outside = join(bench.root, 'tools/safe_bash/safe_bash');
    mkdirSync(dirname(outside), { recursive: true });
    symlinkSync(bench.proxy, outside);
    expect(await reach({ program: outside })).toEqual(refused(/is not in the \.claude directory of a project/));
    const loose = join(bench.project, 'safe_bash');
    symlinkSync(bench.proxy, loose);
    expect(await reach({ program: loose })).toEqual(refused(/does not match/));
  });

  // A script always gets the name of its file.
  if (build === 'compiled') {
    it('are refused by name outside their project, where a command would run elsewhere than it seems', async () => {
      const env = { PATH: `${dirname(bench.binLink)}:/usr/bin:/bin` };
      const sibling = `${bench.project}-other`;
      mkdirSync(sibling);
      for (const cwd of ['/', dirname(bench.project), sibling]) {
        expect(await reach({ program: 'safe_bash', cwd, env }), cwd).toEqual({
          code: 2,
          error_code: 'PATH_INVALID',
          error: expect.stringContaining(`called in ${cwd}, outside the project ${bench.project}`),
        });
        expect(await reach({ program: bench.binLink, cwd, env }), cwd).toEqual(['safe_bash', bench.project]);
      }
    });

    it('SEC-4.3 are not replaced by a name that the caller made up', async () => {
      const { project } = bench;
      expect(await reach({ argv0: 'no_such_tool' })).toEqual(refused(/in no directory of PATH/));
      expect(await reach({ argv0: join(project, '.claude/bin/absent') })).toEqual(
        refused(/cannot be followed \(ENOENT\)/),
      );
      expect(await reach({ argv0: '/bin/sh' })).toEqual(refused(/\/bin\/sh leads to /));
      expect(await reach({ argv0: 'sh' })).toEqual(refused(/leads to /));
    });
  }

  it('are not needed for its version and usage, which it prints under its own name', async () => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));
    const own = { program: bench.proxy };
    expect(await bench.run(['--version'], own)).toEqual({ code: 0, stdout: `contextd-proxy ${version}\n`, stderr: '' });
    const { code, stdout } = await bench.run([], own);
    expect({ code, error_code: JSON.parse(stdout).data.error_code }).toEqual({ code: 2, error_code: 'ARGS_INVALID' });
    expect(JSON.parse(stdout).data.remediation).toContain('.claude/tools/');
  });

  it('print the files beside them with --help, --extended and --schema, without a daemon', async () => {
    const alone = { env: { CONTEXTD_HOME: join(bench.root, 'nowhere') } };
    const files = { 'TOOL.md': ['--help'], 'TOOL_EXTENDED.md': ['--help', '--extended'], 'schema.json': ['--schema'] };
    for (const [name, args] of Object.entries(files)) {
      const missing = await bench.run(args, alone);
      expect(missing).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('exit 1 · NOT_FOUND]') });
      writeFileSync(join(dirname(bench.link), name), `the ${name}\n`);
      for (const program of [bench.link, bench.binLink]) {
        expect(await bench.run(args, { ...alone, program })).toEqual({ code: 0, stdout: `the ${name}\n`, stderr: '' });
      }
    }
    expect(existsSync(join(bench.root, 'nowhere'))).toBe(false);
  });

  it('are not affected by anything in the working directory', async () => {
    const hostile = join(bench.root, 'hostile');
    const proof = join(hostile, 'ran');
    mkdirSync(hostile);
    writeFileSync(join(hostile, '.env'), `CONTEXTD_HOME=${hostile}\nHOME=${hostile}\nCONTEXTD_SESSION_ID=stolen\n`);
    writeFileSync(join(hostile, 'bunfig.toml'), 'preload = ["./preload.js"]\n');
    writeFileSync(join(hostile, 'preload.js'), `require('node:fs').writeFileSync(${JSON.stringify(proof)}, '')\n`);
    writeFileSync(join(hostile, 'package.json'), '{"type":"commonjs","imports":{"node:fs":"./preload.js"}}');
    writeFileSync(join(hostile, 'tsconfig.json'), '{"compilerOptions":{"paths":{"*":["./preload.js"]}}}');
    expect(await reach({ cwd: hostile })).toEqual(['safe_bash', bench.project]);
    expect(existsSync(proof)).toBe(false);
  });

  it('cannot break the line on stderr with a hostile path', async () => {
    const evil = join(bench.root, 'a\nb\u001b[31m/.claude/tools/x/y');
    mkdirSync(dirname(evil), { recursive: true });
    symlinkSync(bench.proxy, evil);
    const { stdout, stderr } = await bench.run(['{}'], { program: evil });
    expect(stderr).toMatch(/^\[contextd exit 4 · INTEGRITY_FAILED\]\n$/u);
    expect(stdout.trimEnd()).not.toContain('\n');
    expect(JSON.parse(stdout).error).toContain(evil);
  });
});

const filter = socketFilter();
const bwrap = ['/usr/bin/bwrap', '/usr/local/bin/bwrap'].find((path) => existsSync(path));

describe.runIf(bwrap !== undefined && filter !== undefined).each(BUILDS)(
  "the %s proxy in an agent's sandbox",
  (build) => {
    it('names the setting that lets a tool out if socket() is forbidden, or what to do if it is set', async () => {
      const bench = await Bench.create(build);
      try {
        await bench.serve();
        writeFileSync(join(bench.root, 'filter'), filter ?? '');
        const refusal = async () => {
          const child = spawn(bwrap ?? '', ['--dev-bind', '/', '/', '--seccomp', '3', bench.link, '{}'], {
            env: { PATH: process.env.PATH, HOME: bench.root, CONTEXTD_HOME: bench.home },
            stdio: ['ignore', 'pipe', 'pipe', openSync(join(bench.root, 'filter'), 'r')],
          });
          const { data } = JSON.parse(await text(child.stdout ?? Readable.from([])));
          expect(data.error_code).toBe('DAEMON_UNAVAILABLE');
          return data.remediation;
        };
        const settings = join(bench.project, '.claude/settings.json');
        const set = (list: string) => writeFileSync(settings, `{ // mine\n"sandbox":{"excludedCommands":[${list}]}}`);
        for (const list of [undefined, '', '"docker *"', '"safe_bash *"']) {
          if (list !== undefined) set(list);
          expect(await refusal(), list).toContain('sandbox.excludedCommands: ["safe_bash *"]');
          expect(await refusal(), list).toContain('network.allowAllUnixSockets');
        }
        set(`"docker *",\n"${bench.link} *"`);
        expect(await refusal()).toContain('Run safe_bash alone: ');
        expect(await refusal()).not.toContain('excludedCommands');
      } finally {
        await bench.remove();
      }
    });
  },
);

/**
 * A seccomp program that makes socket(AF_UNIX) fail with EPERM, like the sandbox of Claude Code. Undefined on other
 * systems than Linux.
 */
function socketFilter(): Buffer | undefined {
  const socketCall = { x64: 41, arm64: 198 }[process.arch as string];
  if (process.platform !== 'linux' || socketCall === undefined) return undefined;
  const [load, jumpIfEqual, end] = [0x20, 0x15, 0x06];
  const program: [code: number, yes: number, no: number, value: number][] = [
    [load, 0, 0, 0],
    [jumpIfEqual, 0, 3, socketCall],
    [load, 0, 0, 16],
    [jumpIfEqual, 0, 1, 1],
    [end, 0, 0, 0x0005_0001],
    [end, 0, 0, 0x7fff_0000],
  ];
  return Buffer.concat(
    program.map(([code, yes, no, value]) => {
      const instruction = Buffer.alloc(8);
      instruction.writeUInt16LE(code, 0);
      instruction.writeUInt8(yes, 2);
      instruction.writeUInt8(no, 3);
      instruction.writeUInt32LE(value, 4);
      return instruction;
    }),
  );
}
