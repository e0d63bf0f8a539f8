import type { Mount } from '../../guard/contract/mount.ts';
import type { SandboxLimits } from '../contract/policy.ts';
import { type OwnProgramHost, runOwnProgram } from '../jail/own-program.ts';
import { LAYER_FILE_MAX_BYTES, OVERLAY_ATTRIBUTES } from '../layers/place.ts';
import type { Identity } from '../machine/identity.ts';

const MIB = 1024 * 1024;
const LIMITS: SandboxLimits = {
  memoryBytes: 512 * MIB,
  pids: 16,
  fileBytes: LAYER_FILE_MAX_BYTES,
  openFiles: 1024,
  cpus: 0,
};
const UNPACK_WITHIN_MS = 300_000;
const ARCHIVE_INSIDE = '/opt/contextd/branch.tar';
const FILES_INSIDE = '/opt/contextd/branch';

/** With the modes of the archive, but without setuid, setgid and sticky bits, which no command may set either. */
const UNPACK = 'umask 0; exec tar -x --no-same-permissions --no-same-owner "$@"';

/**
 * Unpacks in a sandbox as the owner of the project, so that no name in the archive leads out of `dir`. Throws Error with what
 * the program said.
 */
export async function unpackInSandbox(
  host: OwnProgramHost,
  identity: Identity,
  archive: string,
  dir: string,
): Promise<void> {
  const mounts: Mount[] = [
    { kind: 'ro-bind', source: archive, dest: ARCHIVE_INSIDE },
    { kind: 'bind', source: dir, dest: FILES_INSIDE },
  ];
  const { exit, stderr } = await runOwnProgram(host, {
    identity,
    argv: ['sh', '-c', UNPACK, 'contextd-unpack', ...OVERLAY_ATTRIBUTES, '-f', ARCHIVE_INSIDE, '-C', FILES_INSIDE],
    mounts,
    limits: LIMITS,
    wallMs: UNPACK_WITHIN_MS,
    outputMaxChars: 1_000,
    network: null,
    seccompFile: null,
  });
  if (!exit.ran || exit.code !== 0) throw new Error(`its files from a backup cannot be unpacked: ${stderr.trim()}`);
}
