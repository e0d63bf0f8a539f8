import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Mount } from '../../guard/contract/mount.ts';
import { NODE_BINARY } from '../contract/places.ts';

/** One file, bundled: nothing else can be loaded in the sandbox. */
const PROGRAM = fileURLToPath(new URL('../../../program/merge.js', import.meta.url));
const PROGRAM_INSIDE = '/opt/contextd/merge.mjs';
const BRANCH_INSIDE = '/opt/contextd/branch';
const STORE_INSIDE = '/opt/contextd/store';

/** Host paths that the program reads besides the workspace. */
export interface MergeSources {
  /** The files that a branch wrote. */
  readonly branch: string | null;
  /** Of the undo of the workspace; it need not exist. */
  readonly store: string;
}

/** What the sandbox that lists or merges needs besides its policy, and what it runs. */
export function mergeProgram(workspace: string, { branch, store }: MergeSources): { mounts: Mount[]; argv: string[] } {
  const mounts: Mount[] = [
    { kind: 'ro-bind', source: process.execPath, dest: NODE_BINARY },
    { kind: 'ro-bind', source: PROGRAM, dest: PROGRAM_INSIDE },
  ];
  if (branch !== null) mounts.push({ kind: 'ro-bind', source: branch, dest: BRANCH_INSIDE });
  if (existsSync(store)) mounts.push({ kind: 'ro-bind', source: store, dest: STORE_INSIDE });
  const argv = [NODE_BINARY, '--no-warnings', PROGRAM_INSIDE, workspace, BRANCH_INSIDE, STORE_INSIDE];
  return { mounts, argv };
}
