/** The project as one session sees it. */
export interface WorkspaceView {
  /** Absolute real path of the project root, mounted at the same path. */
  readonly path: string;
  /** Branches with files of their own over the base, outermost first. Writes go to the last one. Null: the base. */
  readonly layer: readonly string[] | null;
}

/** The base of a project, without any branch. */
export function baseView(path: string): WorkspaceView {
  return { path, layer: null };
}

/**
 * The network namespace of a sandbox; loopback is its only interface. `none`: a private namespace without a network.
 * `project`: one namespace shared by all sandboxes of this workspace with this setting, in which the proxy process
 * listens. If the machine does not let sandboxes join a namespace: a private one, without a network.
 */
export type SandboxNetwork = 'none' | 'project';

/** What a command may see and use. Set by a person, who registered the workspace; a tool's input changes nothing. */
export interface SandboxPolicy {
  workspace: WorkspaceView;
  /** True: the workspace and its repository are mounted read-only. Absent: read-write. */
  isWorkspaceReadOnly?: true;
  /** True: an empty read-only directory is in the place of the workspace, and none of its repository is mounted. */
  isWorkspaceHidden?: true;
  network: SandboxNetwork;
  /** Tool whose own network scope applies under `network: 'project'`. Absent: the scope of the project's commands. */
  networkTool?: string;
  /** Absolute directories mounted read-only at the same path; their `bin` comes first on PATH. */
  roPaths: readonly string[];
  /** Host programs outside /usr. Absent for tool processes, which need none. */
  toolchains?: Toolchains;
  /**
   * Directories outside the workspace that a person allowed, as real paths. Mounted read-write and protected like the
   * workspace. Absent: none.
   */
  allowedPaths?: readonly string[];
  /**
   * Files and directories outside the workspace that a person let a tool use. A path that is missing or not a real path
   * makes the sandbox fail to start. Writable ones are directories, protected like the workspace. Absent: none.
   */
  toolPaths?: readonly ToolPath[];
  /**
   * Top of the repository that contains the workspace, if a person allowed it. Mounted read-only, with its git
   * directory as for a project at the top. Absent: not mounted.
   */
  repository?: string;
  /** Globs relative to the workspace. Matching paths are hidden inside. */
  deny: readonly string[];
  /** Storage shared with later commands. Null: none; HOME and /tmp are in memory. */
  storage: SessionStorage | null;
  limits: SandboxLimits;
  /** Minimum isolation of the machine; with less, nothing runs (SANDBOX_UNAVAILABLE). */
  minIsolation: 'full' | 'reduced';
  seccomp: SeccompToggles;
  /**
   * `working`: git inside has the person's name, harmless settings, and writable copies of the repositories'
   * configurations. Default: neither.
   */
  git?: 'working';
  /** Settings of the host's network clients that commands get. Absent: none. */
  hostNetwork?: HostNetwork;
}

/** `path`: absolute. */
export interface ToolPath {
  readonly path: string;
  readonly isWritable: boolean;
}

/** Settings of the host's network clients that a person allowed. Nothing in it is secret. */
export interface HostNetwork {
  /** PEM. Trusted in addition to the system's certificates. */
  readonly certificates: readonly string[];
  /** Variables set to the path of the certificate bundle, even if it holds only the system's certificates. */
  readonly caVariables: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  /** Initial files of a session's HOME. Paths are relative to it. */
  readonly homeFiles: readonly HomeFile[];
}

export interface HomeFile {
  readonly path: string;
  readonly text: string;
}

/** HOME and /tmp of this session, and the caches of its owner. */
export interface SessionStorage {
  readonly session: string;
  /** No absolute path. Absent: the workspace's project. */
  readonly owner?: string;
}

/** Toolchains that a person allowed. */
export interface Toolchains {
  /** Real paths of directories and files. Mounted read-only at the same path. */
  readonly mounts: readonly string[];
  /** Files in the mounts that may hold credentials: empty inside. */
  readonly hidden: readonly string[];
  /** Directories for PATH, in order. Directories missing from the sandbox are left out. */
  readonly path: readonly string[];
  /** Variables that point to the toolchains. */
  readonly variables: Readonly<Record<string, string>>;
  /** The person's PATH, searched for a program that is missing inside. */
  readonly hostPath: readonly string[];
}

/** A tool profile's changes to the default seccomp filter. */
export interface SeccompToggles {
  /** AF_INET and AF_INET6 sockets. Without a network they reach loopback only. */
  inet: boolean;
  /** AF_UNIX sockets. */
  unix: boolean;
  /** ptrace and related calls, for processes of the same sandbox. */
  debugger: boolean;
}

export interface SandboxLimits {
  /** Bytes of memory of the whole sandbox, tmpfs included; per process if no cgroup can be used. */
  memoryBytes: number;
  /** Maximum number of processes and threads of the command at once. */
  pids: number;
  /** Maximum size in bytes of a file it writes. */
  fileBytes: number;
  /** Maximum number of open files per process. */
  openFiles: number;
  /** Number of processors; may be fractional. 0: no limit. */
  cpus: number;
}
