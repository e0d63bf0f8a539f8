import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { ContextdError, isErrno } from '../core/errors.ts';
import { isWithin } from '../core/paths.ts';
import { toolOfShellName } from '../core/shell-names.ts';

/** How the program was called. */
export interface Invocation {
  /** As the caller wrote it: a path, or a bare name found through PATH. */
  calledAs: string;
  args: readonly string[];
  /** Real path of the running program. */
  program: string;
}

/**
 * The compiled program has the real argv[0] in `process.argv0` and its own path in `process.execPath`. On Node a launcher
 * passes its own `$0`, which the kernel makes a path for a script found through PATH.
 */
export function readInvocation(launchedAs: string | undefined): Invocation {
  const args = process.argv.slice(2);
  if (process.versions.bun !== undefined) {
    return { calledAs: process.argv0, args, program: realpathSync(process.execPath) };
  }
  if (launchedAs === undefined) return { calledAs: SELF_NAME, args, program: realpathSync(process.argv[1] ?? '.') };
  return { calledAs: launchedAs, args, program: realpathSync(launchedAs) };
}

/** The program's own name: called by it, the program is not a tool. */
export const SELF_NAME = 'contextd-proxy';

/** The name of the tool the caller asks for. */
export function nameOf(invocation: Invocation): string {
  return toolOfShellName(basename(invocation.calledAs));
}

/** Set by scripts/build-proxy.ts; missing in the program of a package, and when the sources run unbuilt, as in unit tests. */
declare const CONTEXTD_PROXY_PATH: string | undefined;
declare const CONTEXTD_RANK_FILE: string | undefined;

/** The installation this proxy belongs to. */
export interface Installation {
  /** Real path of the only file this program may run from. */
  proxyPath: string;
  /** Path of the daemon's launcher. */
  launcher: string;
  /** Path of the token ranks, for answers the proxy makes itself. */
  rankFile: string;
}

/** `packageRoot`: what the launcher of a package says. A program that was built for its place does not ask. */
export function readInstallation(packageRoot: string | undefined): Installation {
  if (typeof CONTEXTD_PROXY_PATH === 'string' && typeof CONTEXTD_RANK_FILE === 'string')
    return installationAt(CONTEXTD_PROXY_PATH, CONTEXTD_RANK_FILE);
  if (packageRoot === undefined) return installationAt('', '');
  const rankFile = join(packageRoot, 'dist', 'src', 'tokens', 'cl100k_base.ranks');
  return installationAt(join(packageRoot, 'bin', SELF_NAME), rankFile);
}

function installationAt(proxyPath: string, rankFile: string): Installation {
  return { proxyPath, launcher: `${proxyPath.slice(0, proxyPath.lastIndexOf('/'))}/contextd`, rankFile };
}

/** The checked link a tool was called by. */
export interface ToolLink {
  tool: string;
  /** Real path of the directory that holds the `.claude` the link lives in. */
  projectRoot: string;
  /** Directory of TOOL.md, TOOL_EXTENDED.md and schema.json. */
  toolDir: string;
}

const REINSTALL = 'Run ./install.sh again, then `ctxd init` in the project';
const RELINK = 'Run `ctxd init` in the project to create its links again';

/**
 * SEC-4.3: checks that the program runs from where it was installed, that the link leads to it, and that directory, link
 * and tool have the same name. Throws INTEGRITY_FAILED with what was found. `.claude` is taken from the path as called:
 * the project is the one the caller named, even if its `.claude` is a link to somewhere else.
 */
export function checkLink(invocation: Invocation, installedPath: string, searchPath: string): ToolLink {
  const { calledAs, program } = invocation;
  checkProgram(program, installedPath);
  const link = findLink(calledAs, searchPath);
  if (link === undefined) {
    throw refusal(`called as ${calledAs}, which is in no directory of PATH`, 'Call the tool by the path of its link');
  }
  const target = realPathOf(link);
  if (target !== program) throw refusal(`the link ${link} leads to ${target}, not to ${program}`, RELINK);
  return readLayout(link);
}

/** Throws INTEGRITY_FAILED unless the program runs from where it was installed. */
export function checkProgram(program: string, installedPath: string): void {
  if (program === installedPath) return;
  throw refusal(`this program runs from ${program} but was installed at ${installedPath}`, REINSTALL);
}

/** The path of the link. A bare name is the first executable with this name in PATH, as for a shell. */
export function findLink(calledAs: string, searchPath: string): string | undefined {
  if (calledAs.includes('/')) return resolve(calledAs);
  return searchPath
    .split(delimiter)
    .map((directory) => resolve(directory, calledAs))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch (error) {
    if (isErrno(error)) return false;
    throw error;
  }
}

function readLayout(link: string): ToolLink {
  const directory = dirname(link);
  const bin = basename(directory) === 'bin';
  const tool = bin ? toolOfShellName(basename(link)) : basename(link);
  const claudeDir = bin ? dirname(directory) : dirname(dirname(directory));
  if (!bin && (basename(dirname(directory)) !== 'tools' || basename(directory) !== tool)) {
    throw refusal(`the link ${link} does not match its directory: .claude/tools/${tool}/${tool} is expected`, RELINK);
  }
  if (basename(claudeDir) !== '.claude')
    throw refusal(`the link ${link} is not in the .claude directory of a project`, RELINK);
  return { tool, projectRoot: realPathOf(dirname(claudeDir)), toolDir: join(claudeDir, 'tools', tool) };
}

/**
 * A tool that is called by name runs where the caller stands. Throws PATH_INVALID outside the project, where the command
 * would change files of a directory that the caller does not mean. A call by path names its project.
 */
export function checkPlace({ calledAs }: Invocation, { tool, projectRoot }: ToolLink, cwd: string): void {
  if (calledAs.includes('/') || isWithin(projectRoot, cwd)) return;
  const where = cwd === '' ? 'a directory that was removed' : cwd;
  throw new ContextdError('PATH_INVALID', `${tool} was called in ${where}, outside the project ${projectRoot}`, {
    remedy: `Change to a directory of the project first, or call ${projectRoot}/.claude/bin/${tool}, which runs at its root. A directory that \`ctxd allow path DIRECTORY\` allowed is reached in the command: 'cd ${cwd === '' ? 'DIR' : cwd} && …'.`,
    details: { path: cwd },
  });
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (!isErrno(error)) throw error;
    throw refusal(`the link ${path} cannot be followed (${error.code})`, RELINK);
  }
}

function refusal(message: string, remedy: string): ContextdError {
  return new ContextdError('INTEGRITY_FAILED', message, { remedy: `${remedy}.` });
}
