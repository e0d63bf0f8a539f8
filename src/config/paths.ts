import { chmod, mkdir, stat } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { ContextdError, isErrno } from '../core/errors.ts';
import type { Environment } from './env.ts';

/** Every place that contextd reads or writes, as absolute paths. No other file composes them. */
export interface Paths {
  configDir: string;
  dataDir: string;
  stateDir: string;
  runDir: string;
  /** Held by the proxy that starts a daemon, and by a daemon that is being replaced. */
  startLock: string;
  configFile: string;
  socket: string;
  certsDir: string;
  stateDb: string;
  /** Memories of all projects. */
  memoryDb: string;
  /** What happened in the sessions of all projects. */
  sessionDb: string;
  artifactsDir: string;
  /** Accepted tool bundles, by content: `<toolsDir>/<sha256>/`. */
  toolsDir: string;
  /** Tools that are being fetched. */
  stagingDir: string;
  sandboxDir: string;
  /** What commands keep: the caches of projects, HOME and /tmp of sessions. */
  storageDir: string;
  /** What the files of projects were, for undo and checkpoints. */
  undoDir: string;
  /** What branches with files of their own changed. */
  layersDir: string;
  /** A gitleaks program for this CONTEXTD_HOME only. */
  gitleaksDir: string;
  /** Where `install.sh` puts the gitleaks program: in the user's data directory, so that every CONTEXTD_HOME finds it. */
  userGitleaksDir: string;
  /** Texts that gitleaks is searching now. */
  gitleaksWorkDir: string;
  /** One directory for each tool process, visible to the process: the sockets of both sides. */
  toolSocketsDir: string;
  /** Sockets of tool processes, moved to where no tool can reach them. */
  dialledSocketsDir: string;
  auditDir: string;
  /** Audit logs of other machines, from backups: a folder each. */
  otherAuditDir: string;
  /** Where backups are made and unpacked. */
  backupDir: string;
  /** What was set aside and accepted: one ledger per workspace. */
  quarantineDir: string;
  /** What `ctxd init` created: one manifest per project. */
  projectsDir: string;
  logFile: string;
  /** The port that the HTTP door chose at its first start. */
  httpPortFile: string;
  /** Tokens of the HTTP door, one file each: `<name>.json`. */
  httpTokensDir: string;
  /** Compiled code of the daemon, cached by Node. */
  compileCacheDir: string;
  /** The home of the daemon's user, and the git configuration files of the user and of the system. */
  userHome: string;
  userGitConfigs: readonly string[];
  installRoot: string;
  coreBundleDir: string;
  /** The package `@contextd/sdk`. */
  sdkDir: string;
  /** The SDK for Go and the templates of tools. */
  sdkSourceDir: string;
  proxyBinary: string;
  launcher: string;
  /** `ctxd`. */
  managementCli: string;
}

/** The most bytes of a unix socket's path, without the final NUL. */
const SOCKET_PATH_MAX: Readonly<Partial<Record<NodeJS.Platform, number>>> = { linux: 107, darwin: 103 };
const SOCKET_PATH_MAX_ELSEWHERE = 103;

/**
 * Everything is in `CONTEXTD_HOME` if it is set, otherwise in `contextd` below each XDG directory (ARCHITECTURE.md, Files). A relative
 * XDG value is ignored, as the XDG specification demands. Throws PATH_INVALID for a relative `CONTEXTD_HOME` and for a
 * socket path over the system's limit.
 */
export function resolvePaths(
  env: Environment,
  installRoot: string,
  platform: NodeJS.Platform = process.platform,
): Paths {
  const bases = env.contextdHome === undefined ? xdgBases(env) : homeBases(env.contextdHome);
  const socket = join(bases.runDir, 'contextd.sock');
  checkSocketLength(socket, platform);
  return {
    ...bases,
    socket,
    configFile: join(bases.configDir, 'config.json'),
    certsDir: join(bases.stateDir, 'certs'),
    stateDb: join(bases.stateDir, 'contextd.db'),
    memoryDb: join(bases.dataDir, 'memory.db'),
    sessionDb: join(bases.dataDir, 'sessions.db'),
    artifactsDir: join(bases.dataDir, 'artifacts'),
    toolsDir: join(bases.dataDir, 'tools'),
    stagingDir: join(bases.dataDir, 'staging'),
    sandboxDir: join(bases.dataDir, 'sandbox'),
    storageDir: join(bases.dataDir, 'storage'),
    undoDir: join(bases.dataDir, 'undo'),
    layersDir: join(bases.dataDir, 'layers'),
    gitleaksDir: join(bases.dataDir, 'gitleaks'),
    userGitleaksDir: join(xdgBases(env).dataDir, 'gitleaks'),
    gitleaksWorkDir: join(bases.stateDir, 'gitleaks'),
    startLock: join(bases.runDir, 'start.lock'),
    toolSocketsDir: join(bases.runDir, 't'),
    dialledSocketsDir: join(bases.runDir, 'd'),
    auditDir: join(bases.stateDir, 'audit'),
    otherAuditDir: join(bases.stateDir, 'audit-of'),
    backupDir: join(bases.stateDir, 'backup'),
    quarantineDir: join(bases.stateDir, 'quarantine'),
    projectsDir: join(bases.stateDir, 'projects'),
    logFile: join(bases.stateDir, 'daemon.log'),
    httpPortFile: join(bases.stateDir, 'http-port'),
    httpTokensDir: join(bases.configDir, 'http'),
    compileCacheDir: join(bases.stateDir, 'compile-cache'),
    userHome: env.home,
    userGitConfigs: [
      '/etc/gitconfig',
      join(absoluteOnly(env.xdgConfigHome) ?? join(env.home, '.config'), 'git', 'config'),
      join(env.home, '.gitconfig'),
    ],
    installRoot,
    coreBundleDir: join(installRoot, 'dist', 'core-bundle'),
    sdkDir: join(installRoot, 'dist', 'sdk'),
    sdkSourceDir: join(installRoot, 'sdk'),
    proxyBinary: join(installRoot, 'bin', 'contextd-proxy'),
    launcher: join(installRoot, 'bin', 'contextd'),
    managementCli: join(installRoot, 'bin', 'ctxd'),
  };
}

/** Creates the directories with mode 0700, and narrows existing ones to it. Throws PATH_INVALID, which names the place. */
export async function ensureDirectories(paths: Paths): Promise<void> {
  const { configDir, dataDir, stateDir, runDir, certsDir, artifactsDir, toolsDir, sandboxDir, undoDir, auditDir } =
    paths;
  const bases = [configDir, dataDir, stateDir, runDir];
  const below = [
    certsDir,
    artifactsDir,
    toolsDir,
    sandboxDir,
    undoDir,
    paths.layersDir,
    auditDir,
    paths.quarantineDir,
    paths.projectsDir,
  ];
  for (const directory of [...bases, ...below]) await ensurePrivate(directory);
}

type Bases = Pick<Paths, 'configDir' | 'dataDir' | 'stateDir' | 'runDir'>;

function homeBases(contextdHome: string): Bases {
  if (!isAbsolute(contextdHome)) {
    throw new ContextdError('PATH_INVALID', `CONTEXTD_HOME is not an absolute path: ${contextdHome}`, {
      remedy: `Set CONTEXTD_HOME to an absolute path such as ${resolve('/', 'home', 'me', '.contextd')}.`,
    });
  }
  const home = resolve(contextdHome);
  return {
    configDir: join(home, 'config'),
    dataDir: join(home, 'data'),
    stateDir: join(home, 'state'),
    runDir: join(home, 'run'),
  };
}

function xdgBases(env: Environment): Bases {
  const below = (value: string | undefined, ...standard: string[]): string =>
    join(absoluteOnly(value) ?? join(env.home, ...standard), 'contextd');
  const stateDir = below(env.xdgStateHome, '.local', 'state');
  const runtimeDir = absoluteOnly(env.xdgRuntimeDir);
  return {
    configDir: below(env.xdgConfigHome, '.config'),
    dataDir: below(env.xdgDataHome, '.local', 'share'),
    stateDir,
    runDir: runtimeDir === undefined ? join(stateDir, 'run') : join(runtimeDir, 'contextd'),
  };
}

function absoluteOnly(value: string | undefined): string | undefined {
  return value !== undefined && isAbsolute(value) ? resolve(value) : undefined;
}

function checkSocketLength(socket: string, platform: NodeJS.Platform): void {
  const limit = SOCKET_PATH_MAX[platform] ?? SOCKET_PATH_MAX_ELSEWHERE;
  const size = Buffer.byteLength(socket);
  if (size <= limit) return;
  throw new ContextdError(
    'PATH_INVALID',
    `the socket path has ${size} bytes, the system's limit is ${limit}: ${socket}`,
    {
      remedy: 'Set CONTEXTD_HOME to a shorter path.',
      details: { path: socket, size, limit },
    },
  );
}

async function ensurePrivate(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    if (((await stat(directory)).mode & 0o077) !== 0) await chmod(directory, 0o700);
  } catch (error) {
    if (!isErrno(error) || error.code === 'ENOSPC' || error.code === 'EDQUOT') throw ContextdError.from(error);
    throw new ContextdError('PATH_INVALID', `cannot prepare the directory ${directory} (${error.code})`, {
      remedy: 'Make it writable for this user, or set CONTEXTD_HOME to a directory that is.',
      details: { path: directory },
      cause: error,
    });
  }
}
