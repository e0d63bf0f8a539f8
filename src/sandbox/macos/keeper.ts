import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ContextdError } from '../../core/errors.ts';
import { KEEPER_LIMITS, KEEPER_PROGRAM, KEEPER_WITHIN_MS, type Keeper, replyOf } from '../storage/keeper.ts';
import { makePrivateDir, seatbeltArguments } from './launch.ts';
import { buildProfile } from './profile.ts';
import { followGroup, ProcessGroup } from './run.ts';

const REPLY_MAX_BYTES = 64 * 1024;

/** Runs the storage's keeper with a profile that opens one directory. */
export function createSeatbeltKeeper(sandboxExec: string, tempRoot: string): Keeper {
  const stopping = new AbortController();
  const running = new Set<Promise<unknown>>();
  const run = async (dir: string, request: string) => {
    if (stopping.signal.aborted) throw new ContextdError('SANDBOX_UNAVAILABLE', 'contextd is stopping');
    const own = makePrivateDir(tempRoot);
    try {
      const node = realpathSync(process.execPath);
      const profile = buildProfile({
        workspace: own.tmp,
        isReadOnly: false,
        commonGitDir: null,
        allowedPaths: [],
        roPaths: [],
        hiddenFiles: [],
        links: [],
        deny: [],
        privateDirs: [own.home, dir],
        sockets: false,
        programs: [node, join(dirname(dirname(node)), 'lib'), KEEPER_PROGRAM],
      });
      const argv = [node, '--no-warnings', KEEPER_PROGRAM, dir, request];
      const commandLine = seatbeltArguments({ sandboxExec, profile, limits: KEEPER_LIMITS, userProcesses: 0, argv });
      const env = { PATH: '/usr/bin:/bin', HOME: own.home, TMPDIR: own.tmp };
      const { exitCode, stdout, stderr } = await followGroup(new ProcessGroup(commandLine, { cwd: own.tmp, env }), {
        argv,
        cwd: own.tmp,
        env: {},
        stdin: null,
        timeoutMs: KEEPER_WITHIN_MS,
        outputMaxBytes: REPLY_MAX_BYTES,
        outputKillBytes: 0,
        signal: stopping.signal,
      });
      const why = `${exitCode}: ${stderr.head.toString().slice(-1_000)}`;
      return replyOf(stdout.head.toString(), exitCode === 0, why);
    } finally {
      own.remove();
    }
  };
  return {
    ask(dir, _identity, request) {
      const reply = run(dir, JSON.stringify(request));
      const settled: Promise<void> = reply
        .catch(() => {})
        .then(() => {
          running.delete(settled);
        });
      running.add(settled);
      return reply;
    },
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}
