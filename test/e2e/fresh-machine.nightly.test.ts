import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CTXD, OTHER_UID, ROOT } from '../helpers/installation.ts';
import { AT_NIGHT } from '../helpers/property-runs.ts';

/** Runs a script with an empty, private /run, as after the start of a machine. */
const EMPTY_RUN = [
  'unshare',
  '--mount',
  '--propagation',
  'private',
  '--',
  'sh',
  '-c',
  'mount -t tmpfs -o mode=0755 tmpfs /run && exec sh -euc "$1"',
  'fresh-machine',
];
const canUnshare = process.getuid?.() === 0 && runFresh('true').status === 0;
if (!canUnshare) process.stdout.write('fresh machine: not run, it takes root and a mount namespace\n');

function runFresh(script: string, env: Record<string, string> = {}) {
  const [program = '', ...args] = [...EMPTY_RUN, script];
  return spawnSync(program, args, { encoding: 'utf8', env: { PATH: process.env.PATH ?? '', ...env } });
}

describe.runIf(canUnshare)('SEC-2.1 root’s first daemon on a machine', () => {
  let base = '';
  let project = '';
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'fresh-'));
    project = mkdtempSync(join(tmpdir(), 'fresh-project-'));
    chownSync(project, OTHER_UID, OTHER_UID);
  });
  afterEach(() => {
    for (const dir of [base, project]) rmSync(dir, { recursive: true, force: true });
  });

  /** Starts the daemon, calls safe_bash once in the project, and stops the daemon again. */
  const firstCall = (umask: string, before = ''): { answer: string; mode: string | undefined } => {
    const { stdout, stderr } = runFresh(
      `${before}
       umask ${umask}
       trap '${CTXD} server stop >&2' EXIT
       ${CTXD} server start >&2
       cd ${project} && ${CTXD} init >&2
       .claude/tools/safe_bash/safe_bash '{"command":"id -u; echo made >made"}' || true
       stat -c %a /run/contextd-sandbox`,
      { HOME: base, CONTEXTD_HOME: join(base, 'home') },
    );
    const [answer = '', mode] = stdout.split('\n');
    expect(answer, stderr).toMatch(/^\{"success":/);
    return { answer, mode };
  };

  // All other tests start daemons with umask 022.
  it.each(AT_NIGHT ? ['022', '077', '027'] : ['077'])(
    'serves the project of another user even if started with umask %s',
    (umask) => {
      const { answer, mode } = firstCall(umask);
      expect(JSON.parse(answer)).toMatchObject({ success: true, data: { exit_code: 0, stdout: `${OTHER_UID}\n` } });
      expect(mode).toBe('755');
      expect(statSync(join(project, 'made')).uid).toBe(OTHER_UID);
    },
  );

  it('opens the directory that an earlier daemon left closed', () => {
    const { answer, mode } = firstCall('077', 'umask 077; mkdir -p /run/contextd-sandbox/d0');
    expect(JSON.parse(answer)).toMatchObject({ success: true, data: { exit_code: 0 } });
    expect(mode).toBe('755');
  });

  it('names the owner and the remedy if the directory belongs to another user, and can be stopped', () => {
    const { status, stdout, stderr } = runFresh(
      `mkdir /run/contextd-sandbox
       chown ${OTHER_UID} /run/contextd-sandbox
       trap '${CTXD} server stop' EXIT
       ${CTXD} server start`,
      { HOME: base, CONTEXTD_HOME: join(base, 'home') },
    );
    expect(status).not.toBe(0);
    expect(stdout).toMatch(/^contextd \(pid \d+\) has stopped/);
    expect(stderr).toContain(`/run/contextd-sandbox belongs to uid ${OTHER_UID}, not to uid 0`);
    expect(stderr).toContain('Remove it (rm -rf /run/contextd-sandbox) and start contextd again');
  });
});

describe('the scripts that install contextd', () => {
  it('SEC-2.1 build for every user, even if run with a strict umask', () => {
    const copy = mkdtempSync(join(tmpdir(), 'umask-'));
    try {
      // One step that creates a file stands in for the build, in the place where the build creates its files.
      writeFileSync(join(copy, 'tsc'), '#!/bin/sh\numask\nexit 7\n');
      chmodSync(join(copy, 'tsc'), 0o755);
      const script = `umask 077; sed 's:^PATH=.*:PATH="${copy}\\:$PATH":' ${ROOT}/scripts/build.sh >${copy}/build.sh; sh ${copy}/build.sh`;
      const { stdout, status } = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
      expect({ stdout, status }).toEqual({ stdout: '0022\n', status: 7 });
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  });
});
