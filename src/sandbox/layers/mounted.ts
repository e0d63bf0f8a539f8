import type { WorkspaceView } from '../sandbox-policy.ts';

/** How a branch keeps its files: as an overlay over the base, or as a copy of it. */
export type LayerKind = 'overlay' | 'copy';

/** What a branch of a workspace can have. */
export interface LayerAbility {
  readonly kind: LayerKind;
  /** Why it is no overlay; null if it is one. */
  readonly why: string | null;
}

/** Something that runs in a layer. */
export interface LayerUser {
  readonly gone: Promise<void>;
  kill(): void;
}

/** A view of a branch that is mounted somewhere. Call `release` when nothing in it is alive; twice does no harm. */
export interface MountedLayer {
  /** The root of the file tree in which it is mounted, as the host reaches it. */
  readonly root: string;
  /** The command line that starts a program there. */
  readonly enter: readonly string[];
  /** Tells what to kill if the layer is removed. */
  uses(user: LayerUser): void;
  release(): void;
}

/** What mounts views of branches. */
export interface LayerMounts {
  /** Mounts a view, or takes part in its mount. Throws SANDBOX_UNAVAILABLE. */
  lease(view: WorkspaceView): Promise<MountedLayer>;
}
