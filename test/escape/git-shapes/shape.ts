/**
 * The ways in which something left in a project runs on the host, makes its git connect, or keeps it waiting. Each family must run its canary at least once when it
 * is planted without contextd; otherwise it proves nothing.
 */
export const FAMILIES = [
  'nested repository',
  'bare repository',
  'pointer',
  'link for .git',
  'commondir',
  'submodule',
  'prepared clone',
  'prepared worktree',
  'config key',
  'include',
  'config.worktree',
  'hooks',
  'attributes',
  'worktree escape',
  'rebase todo',
  'merge strategy',
  'sequencer',
  'am',
  'person’s hooksPath',
  'person’s include',
  'person’s script',
  'promisor',
  'local address',
  'pipe',
  'stale lock',
  'completed later',
] as const;
export type Family = (typeof FAMILIES)[number];

/**
 * One change of the file system. A path that begins with `/` starts at the project's root, any other at the shape's
 * own directory below it. Paths and texts hold the placeholders of `Place`.
 */
export type Step =
  | {
      readonly do: 'write';
      readonly path: string;
      readonly text: string;
      readonly executable?: boolean;
      readonly append?: boolean;
      /** Writes into the existing file, so that its other hard links change too. */
      readonly inPlace?: boolean;
    }
  | { readonly do: 'mkdir'; readonly path: string }
  | { readonly do: 'pipe'; readonly path: string }
  | { readonly do: 'link'; readonly path: string; readonly to: string }
  | { readonly do: 'hard link'; readonly path: string; readonly to: string }
  | { readonly do: 'move'; readonly path: string; readonly to: string }
  /** An entry in the root's index that makes a directory a submodule. */
  | { readonly do: 'gitlink'; readonly path: string };

export interface Call {
  readonly by: 'safe_bash' | 'safe_write';
  readonly steps: readonly Step[];
}

export interface Shape {
  readonly families: readonly Family[];
  /** A shell script of the person that runs on the host in the project before the first call. */
  readonly prepare: string | null;
  readonly calls: readonly Call[];
}

/** The place of a shape and the values of its placeholders. */
export interface Place {
  /** Absolute path of the project: `@ROOT@`. */
  readonly root: string;
  /** Name of the shape's directory in the project: `@NAME@`; `@HERE@` is its absolute path. */
  readonly name: string;
  /** The file that exists if the canary ran: `@MARK@`. */
  readonly mark: string;
  /** A program on the host that creates the mark and copies its input to its output: `@CANARY@`. */
  readonly canary: string;
  /**
   * A directory beside the project that nothing may write: `@OUT@`; relative to the shape's directory:
   * `@OUT_RELATIVE@`.
   */
  readonly outside: string;
  readonly outsideRelative: string;
  /** A bare repository on the host with a hook that creates the mark: `@TRAP@`; relative as above: `@TRAP_RELATIVE@`. */
  readonly trap: string;
  readonly trapRelative: string;
  /** A port of the host that records connections: `@PORT@`. */
  readonly port: number;
  /** What the shape's addresses ask for, by which a connection is its own: `@ID@`. */
  readonly id: string;
  readonly commits: Commits;
}

/** Commits of the person's repository. */
export interface Commits {
  /** `@HEAD@`: the head of the branch main, with files and a signature. */
  readonly head: string;
  /** `@EMPTY@`: a commit without files. */
  readonly empty: string;
  /** `@SIDE@`: a commit that adds one file to the empty one. */
  readonly side: string;
}

/** Fills in the placeholders. */
export function fill(text: string, place: Place): string {
  return text
    .replaceAll('@ROOT@', place.root)
    .replaceAll('@HERE@', `${place.root}/${place.name}`)
    .replaceAll('@NAME@', place.name)
    .replaceAll('@MARK@', place.mark)
    .replaceAll('@CANARY@', place.canary)
    .replaceAll('@TRAP@', place.trap)
    .replaceAll('@TRAP_RELATIVE@', place.trapRelative)
    .replaceAll('@PORT@', String(place.port))
    .replaceAll('@ID@', place.id)
    .replaceAll('@OUT@', place.outside)
    .replaceAll('@OUT_RELATIVE@', place.outsideRelative)
    .replaceAll('@HEAD@', place.commits.head)
    .replaceAll('@EMPTY@', place.commits.empty)
    .replaceAll('@SIDE@', place.commits.side);
}

/** Relative to the project's root. */
export function locate(path: string, place: Place): string {
  const filled = fill(path, place);
  return filled.startsWith('/') ? filled.slice(1) : `${place.name}/${filled}`;
}

/** The way from a directory of the shape back to the shape's own directory. */
export function upFrom(dir: string): string {
  return '../'.repeat(dir.split('/').length);
}
