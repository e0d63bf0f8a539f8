/** The project as one session sees it. */
export interface WorkspaceView {
  /** Absolute real path of the project root, mounted read-write at the same path. */
  readonly path: string;
  /**
   * The branches with files of their own whose changes lie over the base, the outermost first: the last is the one that
   * gets what is written. Null is the base.
   */
  readonly layer: readonly string[] | null;
}

/** The base of a project, whatever branches there are. */
export function baseView(path: string): WorkspaceView {
  return { path, layer: null };
}

/**
 * Which network namespace a sandbox is in; nothing but loopback is in any. `none`: its own, which leads nowhere.
 * `project`: the namespace that all sandboxes of this workspace with this setting share, where the proxy process answers; if
 * the machine does not let sandboxes join one, its own, without a network.
 */
export type SandboxNetwork = 'none' | 'project';

/** What a command may see and use. A person registered the workspace and set the rest; a tool's input changes nothing. */
export interface SandboxPolicy {
  workspace: WorkspaceView;
  network: SandboxNetwork;
  /** The tool whose own network scope a sandbox with `network: 'project'` has; absent: the scope of the project's commands. */
  networkTool?: string;
  /** Absolute directories mounted read-only at the same path; their `bin` comes first on PATH. */
  roPaths: readonly string[];
  /** Programs of the host outside /usr; absent for tool processes, which need none. */
  toolchains?: Toolchains;
  /**
   * Directories outside the workspace that a person allowed, real paths: mounted read-write and protected like the
   * workspace. Absent: none.
   */
  allowedPaths?: readonly string[];
  /**
   * Files and directories outside the workspace that a person let a tool use. One that is missing or is not a real path
   * refuses the sandbox. Writable ones are directories, protected like the workspace. Absent: none.
   */
  toolPaths?: readonly ToolPath[];
  /**
   * The top of the repository of which the workspace is a part, if a person allowed it: mounted read-only, with its git
   * directory as for a project at the top. Absent: not mounted.
   */
  repository?: string;
  /** Globs relative to the workspace; what they match is not visible inside. */
  deny: readonly string[];
  /** What the command keeps for the next ones; null: nothing, and its HOME and /tmp are in memory. */
  storage: SessionStorage | null;
  limits: SandboxLimits;
  /** If the machine isolates less than this, nothing runs (SANDBOX_UNAVAILABLE). */
  minIsolation: 'full' | 'reduced';
  seccomp: SeccompToggles;
  /**
   * `working`: git inside has the person's name and harmless settings, and copies of the repositories' configurations that
   * it may change. Default: neither.
   */
  git?: 'working';
  /** What commands have of the host's network clients. Absent: nothing. */
  hostNetwork?: HostNetwork;
}

/** `path`: absolute. */
export interface ToolPath {
  readonly path: string;
  readonly isWritable: boolean;
}

/** What a person allowed of the host's network clients. None of it is secret. */
export interface HostNetwork {
  /** PEM. Trusted besides the certificates of the system. */
  readonly certificates: readonly string[];
  /** Names of variables that lead to the certificates, even if those of the system are all. */
  readonly caVariables: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  /** What a session's HOME begins with. Paths relative to it. */
  readonly homeFiles: readonly HomeFile[];
}

export interface HomeFile {
  readonly path: string;
  readonly text: string;
}

/** HOME and /tmp of this session, and the caches of the project that is the workspace. */
export interface SessionStorage {
  readonly session: string;
}

/** The toolchains that a person allowed. */
export interface Toolchains {
  /** Real paths of directories and files, mounted read-only at the same path. */
  readonly mounts: readonly string[];
  /** Files in the mounts that may hold credentials: empty inside. */
  readonly hidden: readonly string[];
  /** Directories on PATH, in order; those that the sandbox does not have are left out. */
  readonly path: readonly string[];
  /** Variables that lead to the toolchains. */
  readonly variables: Readonly<Record<string, string>>;
  /** The person's PATH, in which a missing program is looked for. */
  readonly hostPath: readonly string[];
}

/** What a tool's profile changes in the default seccomp filter. */
export interface SeccompToggles {
  /** AF_INET and AF_INET6 sockets. Without a network they reach loopback only. */
  inet: boolean;
  /** AF_UNIX sockets. */
  unix: boolean;
  /** ptrace and its relatives, for processes of the same sandbox. */
  debugger: boolean;
}

export interface SandboxLimits {
  /** Bytes of memory, tmpfs included, of everything in the sandbox; of each process if no cgroup can be used. */
  memoryBytes: number;
  /** Processes and threads that the command may have at once. */
  pids: number;
  /** Bytes of the largest file it may write. */
  fileBytes: number;
  /** Open files of one process. */
  openFiles: number;
  /** Processors; fractions are allowed, 0 is no limit. */
  cpus: number;
}
