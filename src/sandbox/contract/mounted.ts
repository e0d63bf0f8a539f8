import type { WorkspaceView } from './policy.ts';

/** How a branch keeps its files: as an overlay over the base, or as a copy of it. */
export type LayerKind = 'overlay' | 'copy';

/** The kind of layer a workspace supports. */
export interface LayerAbility {
  readonly kind: LayerKind;
  /** Why overlays are not possible; null if they are. */
  readonly why: string | null;
}

/** A process that runs in a layer. */
export interface LayerUser {
  readonly gone: Promise<void>;
  kill(): void;
}

/** A mounted view of a branch. Call `release` when no process in it is alive. Idempotent. */
export interface MountedLayer {
  /** Host path of the root of the file tree in which the view is mounted. */
  readonly root: string;
  /** Command-line prefix that starts a program in the mount. */
  readonly enter: readonly string[];
  /** Registers a process to kill when the layer is removed. */
  uses(user: LayerUser): void;
  release(): void;
}

/** Mounts views of branches. */
export interface LayerMounts {
  /** Mounts a view, or shares its existing mount. Throws SANDBOX_UNAVAILABLE. */
  lease(view: WorkspaceView): Promise<MountedLayer>;
}
