import { lstatSync, realpathSync, type Stats } from 'node:fs';
import type { Paths } from '../../config/paths.ts';
import { ContextdError } from '../../core/errors.ts';
import { isWithin } from '../../core/paths.ts';
import type { SandboxPolicy } from '../contract/policy.ts';
import { findListener } from './listeners.ts';
import { checkRoPath } from './mountable.ts';

/**
 * Checks the paths that a tool was granted. A link in one would lead elsewhere than the person read, so each must be what it
 * says. Throws PATH_NOT_FOUND and PATH_INVALID.
 */
export function checkToolPaths(
  {
    toolPaths = [],
    workspace,
  }: Pick<SandboxPolicy, 'toolPaths'> & { workspace: Pick<SandboxPolicy['workspace'], 'path'> },
  paths: Paths,
): void {
  for (const { path, isWritable } of toolPaths) {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) throw missing(path);
    const real = realpathSync(path);
    if (real !== path) throw refuse(path, `it leads to ${real}`, 'Put the directory itself there.');
    checkRoPath(path, paths);
    const fault = isWritable ? faultOfWritable(workspace.path, path, stats) : faultOfReadable(path, stats);
    if (fault !== null) throw refuse(path, fault, 'Grant another directory.');
    if (stats.isDirectory()) checkSilent(path);
  }
}

export function readablePaths({ toolPaths = [] }: Pick<SandboxPolicy, 'toolPaths'>): string[] {
  return toolPaths.filter(({ isWritable }) => !isWritable).map(({ path }) => path);
}

export function writablePaths({ toolPaths = [] }: Pick<SandboxPolicy, 'toolPaths'>): string[] {
  return toolPaths.filter(({ isWritable }) => isWritable).map(({ path }) => path);
}

/** Throws PATH_INVALID if a program may listen in the directory: it could do for the tool what the tool must not. */
function checkSilent(path: string): void {
  const found = findListener(path);
  if (found === null) return;
  if ('unread' in found) {
    const fault = `it has more than ${found.unread} entries, too many to look for sockets of programs outside`;
    throw refuse(path, fault, 'Grant a smaller directory.');
  }
  const remedy = `Stop the program that made it and remove it, or grant a directory without it.`;
  throw refuse(path, `it holds ${found.path}, a socket or pipe of a program outside`, remedy);
}

/** Where programs of this machine listen: a socket that can be read can be talked to. */
const LISTENING = /^\/(?:var\/)?run(?:\/|$)/;

function faultOfReadable(path: string, stats: Stats): string | null {
  if (LISTENING.test(path)) return 'programs of this machine listen there';
  return stats.isDirectory() || stats.isFile() ? null : 'it is neither a file nor a directory';
}

/** Programs inside run as the owner of the workspace. */
function faultOfWritable(workspace: string, path: string, stats: Stats): string | null {
  if (!stats.isDirectory()) return 'it is not a directory';
  if (isWithin(workspace, path) || isWithin(path, workspace)) return 'it overlaps the project';
  const owner = lstatSync(workspace).uid;
  return owner === stats.uid ? null : `it belongs to uid ${stats.uid}, the project to uid ${owner}`;
}

function missing(path: string): ContextdError {
  return new ContextdError('PATH_NOT_FOUND', `${path}, which is granted, does not exist`, {
    remedy: 'Create it, or grant another directory.',
  });
}

function refuse(path: string, why: string, remedy: string): ContextdError {
  return new ContextdError('PATH_INVALID', `${path}, which is granted, cannot be mounted: ${why}`, {
    remedy,
  });
}
