import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bench, openBench, usualWho } from '../fixtures/sandbox-harness.ts';

/** What a call leaves, and what a person then does in the directory that runs it. */
interface Trap {
  readonly program: string;
  /** A script that makes the trap in the current directory. `evil` there writes to the canary and then works as `real`. */
  readonly make: string;
  readonly trigger: string;
}

const MANIFEST =
  'mkdir -p src; : >src/lib.rs; printf \'[package]\\nname = "x"\\nversion = "0.1.0"\\n\' >Cargo.toml; mkdir -p .cargo';

const TRAPS: Readonly<Record<string, Trap>> = {
  'rust-toolchain.toml with a path': {
    program: 'rustc',
    make: 'mkdir -p t/bin t/lib; cp evil t/bin/rustc; printf \'[toolchain]\\npath = "%s/t"\\n\' "$PWD" >rust-toolchain.toml',
    trigger: 'rustc --version',
  },
  'rust-toolchain with a path': {
    program: 'rustc',
    make: 'mkdir -p t/bin t/lib; cp evil t/bin/rustc; printf \'[toolchain]\\npath = "%s/t"\\n\' "$PWD" >rust-toolchain',
    trigger: 'mkdir -p deep/er; cd deep/er; rustc --version',
  },
  'rustc in .cargo/config.toml': {
    program: 'cargo',
    make: `${MANIFEST}; printf '[build]\\nrustc = "./evil"\\n' >.cargo/config.toml`,
    trigger: 'cargo metadata --offline --format-version 1',
  },
  'rustc-wrapper in .cargo/config': {
    program: 'cargo',
    make: `${MANIFEST}; printf 'build = { rustc-wrapper = "./evil" }\\n' >.cargo/config`,
    trigger: 'cargo metadata --offline --format-version 1',
  },
  'preload in bunfig.toml': {
    program: 'bun',
    make: `printf 'preload = ["./evil.js"]\\n' >bunfig.toml; printf 'require("child_process").execFileSync("./evil")' >evil.js`,
    trigger: 'bun -e 0',
  },
  '.vimrc with exrc': {
    program: 'vim',
    make: 'printf \':call system("./evil")\\n\' >.vimrc',
    trigger: "vim --not-a-term --cmd 'set exrc' -c 'qa!'",
  },
  '.gdbinit in a trusted place': {
    program: 'gdb',
    make: "printf 'shell ./evil\\n' >.gdbinit",
    trigger: "gdb -iex 'set auto-load safe-path /' -batch",
  },
  'sitecustomize.py in PYTHONPATH': {
    program: 'python3',
    make: `printf 'import subprocess; subprocess.run(["./evil"])\\n' >sitecustomize.py`,
    trigger: 'PYTHONPATH=. python3 -c 0',
  },
  '.bashrc in a HOME': { program: 'bash', make: "printf './evil\\n' >.bashrc", trigger: 'HOME=$PWD bash -i -c true' },
  '.python-version with a path': {
    program: 'uv',
    make: 'mkdir -p v/bin; cp evil v/bin/python3; cp evil v/bin/python; echo ./v >.python-version',
    trigger: 'uv python find --offline',
  },
  '.envrc of direnv': {
    program: 'direnv',
    make: 'echo ./evil >.envrc',
    trigger: 'direnv allow . && direnv exec . true',
  },
};

const PATH = [join(import.meta.dirname, '../../node_modules/.bin'), process.env.PATH ?? ''].join(delimiter);
// rustup keeps its toolchains in the home directory of the account, whatever HOME is in a test.
const env = { RUSTUP_HOME: join(userInfo().homedir, '.rustup'), ...process.env, PATH };
const isHere = ({ program }: Trap) => spawnSync(program, ['--version'], { env, stdio: 'ignore' }).status === 0;
const HERE = Object.entries(TRAPS).filter(([, trap]) => isHere(trap));
const MISSING = Object.values(TRAPS).filter((trap) => !isHere(trap));
if (MISSING.length > 0)
  console.warn(`SKIPPED, cannot be run here: ${MISSING.map(({ program }) => program).join(', ')}`);

describe.each(usualWho())('names that a call leaves, %s', (who) => {
  let bench: Bench;
  let base: string;
  let canary: string;
  beforeAll(async () => {
    bench = await openBench(who);
    base = realpathSync(mkdtempSync(join(tmpdir(), 'contextd-trap-')));
    canary = join(base, 'canary');
  });
  afterAll(async () => {
    await bench.close();
    rmSync(base, { recursive: true, force: true });
  });

  const evil = () =>
    `printf '#!/bin/sh\\necho ran >>${canary}\\ncase $1 in */rustc) exec "$@";; -vV) exec rustc "$@";; esac\\necho "rustc 1.90.0"\\n' >evil; chmod +x evil`;

  /** What the person's program does in `dir`; returns whether the trap ran. */
  function triggerIn(dir: string, { trigger }: Trap): boolean {
    rmSync(canary, { force: true });
    spawnSync('bash', ['-c', trigger], {
      cwd: dir,
      env,
      encoding: 'utf8',
      timeout: 60_000,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return existsSync(canary) && readFileSync(canary, 'utf8').startsWith('ran');
  }

  test.each(HERE)('SEC-2.3 do not run on the host: %s', async (what, trap) => {
    const control = join(base, what.replaceAll(/\W/g, '-'));
    mkdirSync(control);
    spawnSync('bash', ['-c', `${evil()}; ${trap.make}`], { cwd: control });
    expect(triggerIn(control, trap)).toBe(true);

    const { raw } = await bench.bash(`mkdir -p d; cd d; ${evil()}; ${trap.make}`);
    expect(raw.quarantined.filter(({ stays }) => stays !== true)).toHaveLength(1);
    expect(triggerIn(join(bench.workspace, 'd'), trap)).toBe(false);
    rmSync(join(bench.workspace, 'd'), { recursive: true });
  });
});
