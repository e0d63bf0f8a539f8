import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

/**
 * Imports run the way a call runs. A row is a room, what it may import of ours, and why; `*` is everything.
 * Rooms of a later step of the call never import an earlier one.
 */
const TABLE: Record<string, { mayImport: readonly string[]; why: string }> = {
  'src/core': { mayImport: [], why: 'everything stands on it, so it stands on nothing' },
  'src/fs': {
    mayImport: ['src/core'],
    why: 'files by open directories, paths in bytes and globs: what the sandbox and the guard look at files with',
  },
  'src/guard': {
    mayImport: ['src/core', 'src/fs'],
    why: 'what may lie in a workspace; its table of names is pure, for the client that starts in milliseconds and for every other part',
  },
  'src/call': {
    mayImport: ['src/core', 'src/protocol'],
    why: 'what every step and door shares: contracts without implementations; of the protocol only messages, which are plain data',
  },
  'src/text': { mayImport: ['src/core'], why: 'pure: terminal sequences, encodings, offset maps, line indexes' },
  'src/config': { mayImport: ['src/core'], why: 'settings and paths are known before any part is built' },
  'src/protocol': { mayImport: ['src/core'], why: 'both ends share wire types, and the table of the management rpcs' },
  'src/proxy': {
    mayImport: ['src/core', 'src/guard', 'src/protocol', 'src/text', 'src/tokens'],
    why: 'the compiled client must start in milliseconds: no daemon code, no dependency',
  },
  'src/tokens': { mayImport: ['src/core', 'src/text'], why: 'pure and synchronous' },
  'src/scrub': {
    mayImport: ['src/core', 'src/call', 'src/config', 'src/text'],
    why: 'runs in the daemon, in its worker and in a tool process',
  },
  'src/gateway': {
    mayImport: ['src/core', 'src/text', 'src/tokens'],
    why: 'pure and synchronous, and published as a library: names, cards and the choice of a tool know no daemon',
  },
  'src/upstream': {
    mayImport: ['src/core', 'src/gateway', 'src/text'],
    why: 'speaks to MCP servers of others over the streams of a process, and bounds what they send; knows no sandbox, no project and no call',
  },
  'src/audit': {
    mayImport: ['src/core', 'src/call'],
    why: 'the audit log: what the daemon writes, and what `ctxd audit` reads and proves without a daemon',
  },
  'src/stores': { mayImport: ['src/core', 'src/audit', 'src/call', 'src/config'], why: 'keeps what it is given' },
  'src/sandbox': {
    mayImport: ['src/core', 'src/config', 'src/egress', 'src/fs', 'src/guard', 'src/protocol', 'src/text'],
    why: 'confines; knows no tool and no call; of the proxy process its messages and groups of names',
  },
  'src/egress': {
    mayImport: ['src/core'],
    why: 'the process that parses hostile bytes holds no other code; its rules and groups are pure',
  },
  'src/sdk': {
    mayImport: ['src/core', 'src/protocol', 'src/text'],
    why: 'what a tool author gets must not drag the daemon in',
  },
  'src/runner': {
    mayImport: [
      'src/core',
      'src/call',
      'src/config',
      'src/fs',
      'src/guard',
      'src/protocol',
      'src/sandbox',
      'src/sdk',
      'src/scrub',
      'src/text',
      'tools',
    ],
    why: 'owns tool processes; its bundle entry joins the core tools with the first scrub pass',
  },
  'src/catalog': { mayImport: ['src/core', 'src/call', 'src/config', 'src/protocol'], why: 'knows tools, runs none' },
  'src/install': {
    mayImport: ['src/core', 'src/call', 'src/config', 'src/catalog'],
    why: 'brings tools of others here and checks them; runs none, and knows no project',
  },
  'src/dispatch': {
    mayImport: [
      'src/core',
      'src/call',
      'src/config',
      'src/catalog',
      'src/protocol',
      'src/runner',
      'src/sandbox',
      'src/scrub',
      'src/sdk',
      'src/audit',
      'src/stores',
      'src/text',
      'src/tokens',
    ],
    why: 'the nine steps',
  },
  'src/features': {
    mayImport: [
      'src/core',
      'src/call',
      'src/config',
      'src/catalog',
      'src/dispatch',
      'src/egress',
      'src/fs',
      'src/gateway',
      'src/guard',
      'src/install',
      'src/protocol',
      'src/runner',
      'src/sandbox',
      'src/scrub',
      'src/sdk',
      'src/audit',
      'src/stores',
      'src/text',
      'src/tokens',
      'src/upstream',
    ],
    why: 'each feature owns its rules, its store, its management and its chores; the steps of a call know none of them',
  },
  'src/mcp': {
    mayImport: ['src/core', 'src/protocol', 'src/text'],
    why: 'what an MCP client sees, whatever carries out its calls: the bridge of a client has no daemon, and the HTTP door no socket',
  },
  'src/backup': {
    mayImport: [
      'src/core',
      'src/audit',
      'src/call',
      'src/catalog',
      'src/config',
      'src/features',
      'src/fs',
      'src/sandbox',
      'src/stores',
    ],
    why: 'makes a backup of a copied state, and a state of a backup, in a process that is not the daemon',
  },
  'src/doors': {
    mayImport: ['src/core', 'src/call', 'src/config', 'src/mcp', 'src/protocol'],
    why: 'doors know the shape of a call, not its life',
  },
  'src/daemon': { mayImport: ['*'], why: 'builds every part, and is held to a number of lines' },
  'src/forward': { mayImport: [], why: 'runs alone in a sandbox, from its own folder' },
  'src/relay': {
    mayImport: [],
    why: 'runs alone in a sandbox, from its own folder, and makes requests for an MCP server',
  },
  'src/cli': {
    mayImport: [
      'src/forward',
      'src/core',
      'src/call',
      'src/config',
      'src/egress',
      'src/audit',
      'src/backup',
      'src/mcp',
      'src/protocol',
      'src/proxy',
      'src/scrub',
      'src/catalog',
      'src/gateway',
      'src/install',
      'src/text',
      'src/tokens',
    ],
    why: 'reaches the daemon over the socket only; `ctxd audit` must prove the log when no daemon can start, `ctxd backup` makes the state that a daemon starts with, `ctxd scrub` is the engine itself, `ctxd tool verify` rules and counter themselves, `ctxd route` the router itself: they need none',
  },
  tools: { mayImport: ['src/sdk'], why: 'a core tool has no more than any tool author' },
  scripts: { mayImport: ['*'], why: 'build steps' },
  bench: { mayImport: ['*'], why: 'measures every room' },
};

interface Floor {
  folder: string;
  /** The process that its code runs in, where a room is in several; `any`: what every process of contextd may call. */
  runsIn?: 'daemon' | 'spawner' | 'guard thread' | 'any';
  why: string;
}

/**
 * The folders of rooms, from the top: a folder imports only what is below it. Its own `inside` folder, if it has
 * one, runs in a sandbox.
 */
const FLOORS: Record<string, readonly Floor[]> = {
  'src/features': [
    { folder: 'health', why: '`ctxd doctor`, as far as the daemon knows' },
    { folder: 'backup', why: 'copies what only the daemon may open, for a backup' },
    { folder: 'hand-over', why: 'how a daemon is replaced while calls and jobs go on' },
    { folder: 'telemetry', why: 'traces and metrics for a collector, from what the daemon counts anyway' },
    { folder: 'storage', why: 'caches and storage of commands' },
    { folder: 'approvals', why: 'what a person is asked while a call waits' },
    {
      folder: 'rules',
      why: 'the rules of clients for commands, applied to the commands inside; the parser has a thread',
    },
    { folder: 'client-hooks', why: "masks and judges calls of the clients' own tools" },
    { folder: 'host', why: 'what a tool may ask: the verbs of ToolHost, each answered by its feature' },
    { folder: 'jobs', why: 'commands that outlive their call' },
    { folder: 'http', why: 'tokens of the HTTP door, and where it listens' },
    {
      folder: 'upstreams',
      why: 'MCP servers that a person added to a project: what each may use, and which tools are accepted',
    },
    { folder: 'outside', why: 'what a person allowed outside the project, and the policy that follows' },
    { folder: 'network', why: 'which hosts a person allowed by name, and what was reached' },
    { folder: 'ports', why: 'ports of a project on the host' },
    { folder: 'memory', why: 'lessons between sessions; its database has a thread' },
    { folder: 'tools', why: 'installing and accepting tools' },
    { folder: 'primitives', why: 'resources and prompts of MCP servers: how an agent finds and reads them' },
    { folder: 'routing', why: 'how an agent finds a tool: the verbs of the daemon for it' },
    { folder: 'execution', why: 'calls of the tools of MCP servers, and what becomes of their results' },
    { folder: 'sessions', why: 'reading and ending sessions, and the hooks of clients' },
    { folder: 'warm-start', why: 'what a session begins with' },
    { folder: 'checkpoints', why: 'saving and restoring a session' },
    { folder: 'branches', why: 'side tasks, and their files' },
    { folder: 'lost-calls', why: 'what a caller gets whose daemon died during its call' },
    { folder: 'undo', why: 'what calls did to files, and taking it back' },
    { folder: 'secrets', why: 'what was masked, and what a person declared no secret' },
    { folder: 'audit', why: 'what the daemon answers about the audit log, and where it sends its heads' },
    { folder: 'settings', why: 'which settings the audit log has' },
    { folder: 'shared', why: 'what several features do: the record of a person’s act, kept texts, chores' },
    { folder: 'projects', why: 'which projects are registered' },
    { folder: 'compile', why: 'a context from events' },
    { folder: 'events', why: 'the log of what happened in a session' },
  ],
  'src/sandbox': [
    {
      folder: 'spawner',
      runsIn: 'spawner',
      why: 'the process: it serves the contract with a sandbox of this platform',
    },
    { folder: 'client', runsIn: 'daemon', why: 'how the daemon starts the spawner and asks it' },
    { folder: 'macos', runsIn: 'any', why: 'the sandbox of macOS, which runs in the daemon itself' },
    { folder: 'run', runsIn: 'spawner', why: 'the life of a command, from its checked policy to what it left behind' },
    { folder: 'git', runsIn: 'spawner', why: 'git settings of the person, as a sandbox sees them' },
    { folder: 'egress', runsIn: 'spawner', why: 'joins the namespaces of projects to the process of the network' },
    { folder: 'denials', runsIn: 'spawner', why: 'what was denied, read from the messages of programs' },
    { folder: 'merge', runsIn: 'spawner', why: 'starts the program that lists and merges the files of branches' },
    { folder: 'storage', runsIn: 'spawner', why: 'HOME, /tmp and caches that a project keeps' },
    { folder: 'probe', runsIn: 'spawner', why: 'how well this machine isolates, tried with a real sandbox' },
    { folder: 'snapshots', runsIn: 'spawner', why: 'starts the keeper of files that undo needs' },
    { folder: 'jail', runsIn: 'spawner', why: 'one run of bubblewrap, and what is seen of its processes' },
    { folder: 'layers', runsIn: 'spawner', why: 'the file system of a branch' },
    { folder: 'trust', runsIn: 'spawner', why: 'which certificates a sandbox trusts' },
    { folder: 'machine', runsIn: 'spawner', why: 'what the machine offers: mounts, cgroups, filters, users' },
    { folder: 'contract', runsIn: 'any', why: 'what the daemon and the spawner say to each other' },
  ],
  'src/guard': [
    { folder: 'client', runsIn: 'spawner', why: 'starts the thread and asks it' },
    { folder: 'engine', runsIn: 'guard thread', why: 'the thread: answers what to mount, and ends runs' },
    { folder: 'search', runsIn: 'guard thread', why: 'finds what runs made, and judges it' },
    { folder: 'quarantine', runsIn: 'guard thread', why: 'moves files aside and back, and remembers them' },
    {
      folder: 'git',
      runsIn: 'any',
      why: 'what git would read or run; the spawner reads the settings of the person with it',
    },
    { folder: 'index', runsIn: 'guard thread', why: 'what is known of the workspace, and who may have made it' },
    { folder: 'table', runsIn: 'any', why: 'what a name means: one row a name, pure' },
    { folder: 'content', runsIn: 'any', why: 'what the contents of a file with such a name mean, pure' },
    { folder: 'contract', runsIn: 'any', why: 'what is said to the thread, and what a sandbox must mount' },
  ],
};

/** Imports that run upwards all the same, and why. */
const UPWARDS: Record<string, string> = {
  'src/features/compile/contexts.ts → src/features/warm-start/start-build.ts':
    'a context that is made again may be a warm start, which is made of contexts',
};

/** Files held to more than their room's row. */
const NARROWER = [
  {
    from: 'src/backup',
    into: 'src/features',
    only: ['src/features/events/migrations.ts', 'src/features/memory/migrations.ts'],
    why: 'the schemas of their databases, which are texts',
  },
  {
    from: 'src/proxy',
    into: 'src/guard',
    only: ['src/guard/table/names.ts'],
    why: 'the table has no dependency; what reads contents has a parser',
  },
  {
    from: 'src/cli',
    into: 'src/egress',
    only: ['src/egress/addresses.ts', 'src/egress/groups.ts', 'src/egress/names.ts'],
    why: 'pure: a person is shown which addresses are not public, which hosts are in no group, and only names of hosts',
  },
  {
    from: 'src/cli',
    into: 'src/proxy',
    only: [
      'src/proxy/call-daemon.ts',
      'src/proxy/call-one.ts',
      'src/proxy/channel.ts',
      'src/proxy/connect.ts',
      'src/proxy/environment.ts',
      'src/proxy/exchange.ts',
      'src/proxy/messages.ts',
      'src/proxy/start-lock.ts',
      'src/proxy/start.ts',
    ],
    why: 'the bridge of an MCP client reaches and starts the daemon as the proxy does, and loads as little; ctxd waits for a start',
  },
  {
    from: 'src/cli',
    into: 'src/install',
    only: ['src/install/lock-file.ts', 'src/install/source-forms.ts'],
    why: 'the lock file is in the project, which the daemon does not write, and the forms are texts; everything else of an installation is the daemon’s',
  },
  {
    from: 'src/proxy',
    into: 'src/tokens',
    only: ['src/tokens/counter.ts'],
    why: 'an answer that no daemon made has a true tokens_used too',
  },
  {
    from: 'src/runner',
    into: 'src/scrub',
    only: [
      'src/scrub/hardened/engine.ts',
      'src/scrub/finding.ts',
      'src/scrub/exact/rule-pack.ts',
      'src/scrub/leaves.ts',
    ],
    why: 'the first pass is patterns only: vault and guard never leave the daemon',
  },
];

/** Files of the spawner that others import beside the contract and the daemon's end of it, and why. */
const BESIDE_THE_CONTRACT: Record<string, string> = {
  'src/sandbox/machine/identity.ts': 'as whom a project works: the daemon says it, the spawner does it',
  'src/sandbox/machine/mountable.ts': 'a person learns what cannot be allowed; the spawner checks it again',
  'src/sandbox/machine/tool-paths.ts':
    'a person learns which directory an MCP server cannot get; the spawner checks it again',
  'src/sandbox/run/repository-above.ts': 'a person learns why a repository around the project is not mounted',
  'src/sandbox/run/toolchains.ts': 'which PATH a command will have, to judge whether it changed',
  'src/sandbox/machine/host.ts': 'the directories of that PATH',
  'src/sandbox/machine/mount-plan.ts': 'the other variables of a command',
  'src/sandbox/layers/place.ts': 'where the files of a branch are',
  'src/sandbox/snapshots/place.ts': 'where the files are that undo needs',
};

interface FileCalls {
  /** What the file imports from node:fs and node:fs/promises. */
  calls: readonly string[];
  why: string;
}

/**
 * The files of src/cli that reach files by path, and why they may. A person runs commands in directories of other users, who
 * can exchange any part of a path for a link: everything else goes through `files/owned-directory.ts`.
 */
const FILE_CALLS: Record<string, FileCalls> = {
  'commands/backup.ts': { calls: ['rm'], why: 'removes the copy of the state that the daemon made for it' },
  'service/service-file.ts': {
    calls: ['lstat', 'mkdir', 'readFile', 'readlink', 'rename', 'rm', 'writeFile'],
    why: 'the unit of systemd or the agent of launchd of this user, whose places are fixed',
  },
  'files/owned-directory.ts': {
    calls: [
      'closeSync',
      'constants',
      'fchmodSync',
      'fstatSync',
      'lstatSync',
      'mkdirSync',
      'openSync',
      'readdirSync',
      'readFileSync',
      'readlinkSync',
      'realpathSync',
      'renameSync',
      'rmdirSync',
      'rmSync',
      'symlinkSync',
      'writeFileSync',
    ],
    why: 'below open directories, with the rights of their owner',
  },
  'approvals/notify.ts': {
    calls: ['accessSync', 'constants'],
    why: 'finds the program that shows a notification in the directories of the person’s PATH',
  },
  'files/real-directory.ts': {
    calls: ['closeSync', 'constants', 'fstatSync', 'lstatSync', 'openSync', 'readlinkSync', 'realpathSync'],
    why: 'below open directories; judges the links on the way',
  },
  'init/answers.ts': {
    calls: ['mkdir', 'readFile', 'rename', 'rm', 'writeFile'],
    why: 'in the state directory of contextd, which belongs to the person',
  },
  'init/manifest.ts': {
    calls: ['mkdir', 'open', 'readFile', 'rename', 'rm'],
    why: 'in the state directory of contextd, which belongs to the person',
  },
  'files/private-file.ts': {
    calls: ['mkdir', 'open', 'rename', 'rm'],
    why: 'in the configuration directory of contextd, which belongs to the person',
  },
  'http/token-file.ts': {
    calls: ['readFile', 'rm'],
    why: 'in the configuration directory of contextd, which belongs to the person',
  },
  'init/clients/other-clients.ts': {
    calls: ['existsSync', 'statSync'],
    why: 'whether a client left something in the project, in the home or on PATH: nothing is read or written',
  },
  'daemon/launch.ts': {
    calls: ['closeSync', 'openSync', 'readFile', 'readdirSync', 'stat'],
    why: 'the log in the state directory of contextd, and /proc',
  },
  'daemon/log-file.ts': { calls: ['open'], why: 'reads the log in the state directory of contextd' },
  'daemon/stop.ts': { calls: ['readFile', 'readdir', 'readlink', 'realpath'], why: 'reads /proc' },
  'client.ts': { calls: ['readFile'], why: 'reads the certificates of contextd' },
  'main.ts': { calls: ['statSync'], why: 'looks at the cache directory of contextd' },
  'doctor/clients/canary.ts': { calls: ['statSync'], why: 'looks whose the project is' },
  'doctor/clients/proof-place.ts': {
    calls: ['existsSync', 'mkdirSync', 'mkdtempSync', 'readFileSync', 'readdirSync', 'rmSync', 'writeFileSync'],
    why: 'a temporary directory of its own, with a daemon for the proof, the processes of /proc, and what OpenCode writes into .git',
  },
  'doctor/clients/run-client.ts': {
    calls: ['accessSync', 'constants', 'mkdirSync', 'mkdtempSync', 'rmSync', 'writeFileSync'],
    why: 'the HOME of a client that runs for a proof',
  },
  'doctor/daemon-checks.ts': { calls: ['lstat'], why: 'looks at the socket of contextd' },
  'doctor/installed-proxy.ts': { calls: ['existsSync'], why: 'looks for a script of the installation' },
  'doctor/machine-checks.ts': { calls: ['open'], why: 'reads the proxy of the installation' },
  'new-tool/create-tool.ts': {
    calls: ['readFile', 'readdir', 'stat'],
    why: 'reads the templates of the installation',
  },
  'init/network-needs.ts': {
    calls: ['constants', 'open', 'readdir'],
    why: 'reads what a project proposes; nothing is allowed by being read, and anyone can write it',
  },
  'init/repository-above.ts': { calls: ['lstat'], why: 'looks whether there is a .git' },
  'project-root.ts': { calls: ['realpath', 'stat'], why: 'looks which directory is a project' },
  'toolchains/find.ts': { calls: ['readdirSync', 'statSync'], why: 'looks at the PATH of the person' },
  'toolchains/links.ts': {
    calls: ['closeSync', 'existsSync', 'lstatSync', 'openSync', 'readSync', 'readlinkSync', 'realpathSync', 'statSync'],
    why: 'reads first lines of programs on the PATH of the person',
  },
  'mirrors/surroundings.ts': {
    calls: ['readFileSync', 'readdirSync', 'realpathSync', 'statSync'],
    why: 'reads settings of the person and the machine, never of a project',
  },
  'hooks/transcript.ts': {
    calls: ['constants', 'open'],
    why: 'reads the file that the client of the person names',
  },
  'input.ts': {
    calls: ['constants', 'open'],
    why: 'opens the file that the person names for reading, without waiting for it',
  },
  'audit/kept-heads.ts': { calls: ['access', 'readFile'], why: 'reads the heads that the person kept' },
  'audit/ssh-signature.ts': {
    calls: ['mkdtemp', 'rm', 'writeFile'],
    why: 'a new directory of its own for a signature, which ssh-keygen reads from a file',
  },
  'commands/memory-import.ts': { calls: ['stat'], why: 'looks at the file that the person names' },
  'memory/read-markdown.ts': {
    calls: ['readFile', 'readdir', 'stat'],
    why: 'reads the files that the person names',
  },
  'commands/tool-test.ts': { calls: ['readdir'], why: 'looks into the folder that the person names' },
  'commands/tool-verify.ts': {
    calls: ['readdir', 'realpath', 'stat'],
    why: 'reads the folder that the person names',
  },
  'commands/tool.ts': { calls: ['realpath'], why: 'resolves the directory that the person names' },
  'commands/network-credential.ts': { calls: ['realpath'], why: 'resolves the file that the person names' },
  'upstream/plan-import.ts': {
    calls: ['statSync'],
    why: 'whether an argument of a server is a file of the project; nothing of it is read',
  },
  'upstream/imports.ts': {
    calls: ['readFile', 'rm'],
    why: 'the record of an import in the state directory of contextd, which belongs to the person',
  },
  'commands/upstream.ts': { calls: ['realpath'], why: 'resolves the paths that the person names' },
  'commands/allow.ts': { calls: ['realpath', 'stat'], why: 'looks at the directory that the person names' },
};

/** The files of the daemon and the proxy that create, change or remove files, and where. */
const FILE_CHANGES: Record<string, FileCalls> = {
  'src/features/backup/management.ts': {
    calls: ['mkdir', 'mkdtemp', 'rm'],
    why: 'copies of the databases, below the state directory',
  },
  'src/features/health/branch-health.ts': { calls: ['mkdtemp', 'rm'], why: 'a new directory of the daemon' },
  'src/features/health/health.ts': { calls: ['mkdtemp', 'rm'], why: 'a new directory of the daemon' },
  'src/features/health/network-health.ts': { calls: ['mkdtemp', 'rm'], why: 'a new directory of the daemon' },
  'src/features/shared/logger.ts': {
    calls: ['writeSync'],
    why: 'lines of the log on standard error',
  },
  'src/daemon/main.ts': { calls: ['mkdirSync'], why: 'directories of contextd' },
  'src/features/hand-over/successor.ts': { calls: ['openSync'], why: 'the log in the state directory of contextd' },
  'src/features/client-hooks/judge-prompt.ts': { calls: ['openSync'], why: 'reads a file that a person mentions' },
  'src/features/branches/files/branch-starts.ts': {
    calls: ['rename', 'writeFile'],
    why: 'the marker of a merge, in the state directory of contextd',
  },
  'src/features/undo/call-marks.ts': {
    calls: ['appendFileSync', 'mkdir', 'rename', 'rm', 'writeFile'],
    why: 'when calls of a project ran, below the data directory',
  },
  'src/features/undo/undo-records.ts': {
    calls: ['mkdir', 'rename', 'rm', 'writeFile'],
    why: 'records in the state directory of contextd',
  },
  'src/features/ports/management.ts': { calls: ['unlink'], why: 'a socket in a directory of the daemon' },
  'src/features/projects/registered-projects.ts': {
    calls: ['rm'],
    why: 'tools and staging in the data directory of contextd',
  },
  'src/features/rules/rule-files.ts': { calls: ['open'], why: 'opens for reading only' },
  'src/features/tools/tool-installation.ts': {
    calls: ['mkdir', 'rm'],
    why: 'staging in the data directory of contextd',
  },
  'src/proxy/input.ts': { calls: ['openSync'], why: 'reads the file that the caller names' },
  'src/proxy/out-answer.ts': {
    calls: ['fchmodSync', 'fchownSync', 'fsyncSync', 'openSync', 'renameSync', 'unlinkSync', 'writeSync'],
    why: 'below an open directory, whose place in the project is checked; gives away only what it opened itself',
  },
  'src/proxy/out-place.ts': { calls: ['openSync'], why: 'opens each directory below the one before it' },
  'src/proxy/output.ts': { calls: ['writeSync'], why: 'standard output and error' },
  'src/proxy/properties.ts': { calls: ['openSync'], why: 'reads the schema of the tool' },
  'src/proxy/running-line.ts': { calls: ['writeSync'], why: 'standard error' },
  'src/proxy/shell/shell.ts': {
    calls: ['openSync', 'writeSync'],
    why: 'standard output, and the file by which Claude Code learns where a command ended: one name in a directory for temporary files, no link',
  },
  'src/proxy/start-lock.ts': {
    calls: ['openSync', 'rmSync', 'writeSync'],
    why: 'a lock in the directory of the socket',
  },
  'src/proxy/start.ts': { calls: ['mkdirSync', 'openSync'], why: 'the directory of the socket, and the log' },
  'src/proxy/unread-input.ts': { calls: ['openSync'], why: 'its own standard input, without waiting' },
};

/** What changes no file. Any other function of node:fs is a change, also one that may only read, such as `open`. */
const READS =
  /^(?:constants|createReadStream|(?:access|close|exists|fstat|lstat|opendir|read|readdir|readFile|readlink|realpath|stat)(?:Sync)?)$/;

/** The only readers of process.env. */
const ENVIRONMENT_READERS = [
  'src/relay/main.ts',
  'src/config/env.ts',
  'src/proxy/environment.ts',
  'src/sdk/serve.ts',
  'src/runner/exec-tool/main.ts',
];

/** Rooms in which no tool is known by its name: what depends on a tool goes by the effects in its tool.json. */
const NAMELESS_ROOMS = ['src/call', 'src/catalog', 'src/dispatch', 'src/features', 'src/runner'];

/**
 * Texts in these rooms that are the name of a core tool, by file, and why they are there. A text that mentions a tool among
 * other words, as a remedy does, does not count.
 */
const TOOL_NAMES: Record<string, { names: readonly string[]; why: string }> = {
  'src/features/events/migrations.ts': {
    names: [
      'branch',
      'checkpoint_list',
      'checkpoint_restore',
      'checkpoint_save',
      'jobs',
      'return',
      'safe_bash',
      'safe_read',
      'safe_write',
      'session_init',
      'tool_view',
    ],
    why: 'what calls of an earlier version were follows from the names of that version',
  },
  'src/features/rules/inner-commands.ts': { names: ['jobs'], why: 'a builtin of bash, whose `-x` runs a command' },
  'src/features/jobs/jobs.ts': {
    names: ['jobs'],
    why: 'the tool that the outputs of jobs belong to, and the name of the part',
  },
  'src/features/checkpoints/checkpoint-files.ts': {
    names: ['checkpoint_restore'],
    why: 'the name of the act in records, also if a person did it',
  },
  'src/catalog/tool-list.ts': {
    names: ['prompt_browse', 'prompt_get', 'resource_browse', 'resource_read'],
    why: 'which core tools a list leaves out first, also where only the folders of the tools are known',
  },
  'src/features/tools/callable-tools.ts': {
    names: ['tool_browse', 'tool_execute', 'tool_hydrate', 'tool_view'],
    why: 'a surface for MCP clients is made of tools that their specification names',
  },
  'src/features/warm-start/start-build.ts': {
    names: ['session_init'],
    why: 'the kind of stored requests, as earlier versions wrote it',
  },
  'src/runner/host-methods.ts': {
    names: ['checkpoint_restore', 'checkpoint_save', 'memory_search', 'memory_store'],
    why: 'grants, one for each method',
  },
};

const root = join(import.meta.dirname, '..');

/**
 * The names of `tools` that a file has as a text of its own, or in quotes within one, as SQL has them. A name that is also a
 * word of ours, such as `branch`, counts if what it is compared with, or given to, is called a tool or a name.
 */
function toolNamesIn(path: string, tools: readonly string[]): string[] {
  const text = readFileSync(join(root, path), 'utf8');
  const found = new Set<string>();
  const prefixes = new Set(tools.filter((tool) => tool.includes('_')).map((tool) => tool.replace(/_.*/, '_')));
  // Only what has a name is parsed: to parse all files takes seconds.
  if (![...tools, ...prefixes].some((name) => text.includes(name))) return [];
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node)) return;
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      const { text } = node;
      if (prefixes.has(text) || (tools.includes(text) && (text.includes('_') || namesTool(node)))) found.add(text);
      for (const tool of tools) if (text.includes(`WHEN '${tool}'`) || isQuotedName(text, tool)) found.add(tool);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...found].sort();
}

function isQuotedName(text: string, tool: string): boolean {
  return tool.includes('_') && text.includes(`'${tool}'`);
}

function namesTool({ parent }: ts.Node): boolean {
  if (ts.isBinaryExpression(parent)) return /(?:tool|name)$/i.test(parent.left.getText());
  if (ts.isCaseClause(parent)) return /(?:tool|name)$/i.test(parent.parent.parent.expression.getText());
  const isNamed =
    ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent);
  return isNamed && /(?:tool|name)$/i.test(parent.name.getText());
}

function sourceFiles(room: string): string[] {
  const dir = join(root, room);
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((entry) => join(room, entry))
    .filter((path) => path.endsWith('.ts') && !path.includes('/generated/') && statSync(join(root, path)).isFile());
}

/** Every import: static, type-only, re-export, side-effect, `import()` type or dynamic. */
function importsOf(path: string): readonly string[] {
  const known = parsed.get(path);
  if (known !== undefined) return known;
  const source = ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.Latest);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier)
      found.push((node.moduleSpecifier as ts.StringLiteral).text);
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const argument = node.arguments[0];
      if (argument && ts.isStringLiteralLike(argument)) found.push(argument.text);
    }
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal))
      found.push(node.argument.literal.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  parsed.set(path, found);
  return found;
}

/** The functions of node:fs that a file imports; `*` for an import of another kind, which hides them. */
function fileCalls(path: string): string[] {
  const text = readFileSync(join(root, path), 'utf8');
  if (!/\bfs\b/.test(text)) return [];
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  const isFs = (node: ts.Node | undefined): boolean =>
    node !== undefined && ts.isStringLiteralLike(node) && /^(?:node:)?fs(?:\/promises)?$/.test(node.text);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.arguments.some(isFs)) found.push('*');
    if (ts.isExportDeclaration(node) && isFs(node.moduleSpecifier)) found.push('*');
    if (ts.isImportDeclaration(node) && isFs(node.moduleSpecifier) && node.importClause?.isTypeOnly !== true) {
      const bindings = node.importClause?.namedBindings;
      if (bindings === undefined || !ts.isNamedImports(bindings)) found.push('*');
      else for (const one of bindings.elements) if (!one.isTypeOnly) found.push((one.propertyName ?? one.name).text);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...new Set(found)].sort();
}

/** The files of rooms and what they call, as in the tables. */
function callsIn(rooms: readonly string[], counts: (call: string) => boolean): Map<string, string[]> {
  const files = rooms.flatMap(sourceFiles);
  const calls = files.map((file) => [file, fileCalls(file).filter(counts)] as const);
  return new Map(calls.filter(([, names]) => names.length > 0));
}

function sorted(table: Readonly<Record<string, FileCalls>>, under = ''): Map<string, string[]> {
  return new Map(Object.entries(table).map(([file, { calls }]) => [`${under}${file}`, [...calls].sort()] as const));
}

/** The imports by file: several tests ask for the same file. */
const parsed = new Map<string, readonly string[]>();

function roomOf(path: string): string {
  return path.startsWith('src/') ? path.split('/').slice(0, 2).join('/') : (path.split('/')[0] ?? '');
}

function ownImports(path: string): string[] {
  return importsOf(path)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => relative(root, join(root, dirname(path), specifier)));
}

/**
 * A shortest circle through each file that is on one, as `a → b → a`, each circle once: found by walking from every file
 * to itself along the imports.
 */
function circlesOf(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const circles = new Map<string, string>();
  for (const start of imports.keys()) {
    const circle = shortestWayBack(start, imports);
    if (circle !== null) circles.set([...circle].sort().join(' '), [...circle, start].join(' → '));
  }
  return [...circles.values()].sort();
}

function shortestWayBack(start: string, imports: ReadonlyMap<string, readonly string[]>): string[] | null {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (const file of queue) {
    for (const next of imports.get(file) ?? []) {
      if (next === start) return wayTo(file, start, cameFrom);
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, file);
      queue.push(next);
    }
  }
  return null;
}

function wayTo(file: string, start: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const way: string[] = [];
  for (let at = file; at !== start; at = cameFrom.get(at) ?? start) way.unshift(at);
  return [start, ...way];
}

describe('imports run the way a call runs', () => {
  for (const [room, row] of Object.entries(TABLE)) {
    it(`${room} imports only its row: ${row.why}`, () => {
      expect(existsSync(join(root, room)), `${room} is gone: take its row away`).toBe(true);
      const files = sourceFiles(room);
      expect(files.length, `${room} holds no source`).toBeGreaterThan(0);
      const strangers = files.flatMap((file) =>
        ownImports(file)
          .filter(
            (target) =>
              roomOf(target) !== room && !row.mayImport.includes('*') && !row.mayImport.includes(roomOf(target)),
          )
          .map((target) => `${file} → ${target}`),
      );
      expect(strangers).toEqual([]);
    });
  }

  it('no room holds an import circle, type-only imports included', () => {
    const files = ['src', 'tools', 'scripts'].flatMap(sourceFiles);
    expect(circlesOf(new Map(files.map((file) => [file, ownImports(file)])))).toEqual([]);
  });

  it('names a circle by the files on it, once', () => {
    const imports = new Map([
      ['a', ['b', 'd']],
      ['b', ['c']],
      ['c', ['a']],
      ['d', []],
      ['e', ['e', 'd']],
    ]);
    expect(circlesOf(imports)).toEqual(['c → a → b → c', 'e → e']);
  });

  it('the daemon, which may import everything, builds and starts the parts in fewer than 1,500 lines', () => {
    const lines = sourceFiles('src/daemon').map(
      (file) => readFileSync(join(root, file), 'utf8').split('\n').length - 1,
    );
    expect(lines.reduce((sum, count) => sum + count, 0)).toBeLessThan(1_500);
  });

  it('every room of src has a row', () => {
    const rooms = readdirSync(join(root, 'src')).map((name) => `src/${name}`);
    expect(rooms.filter((room) => !(room in TABLE))).toEqual([]);
  });

  for (const rule of NARROWER) {
    it(`${rule.from} takes of ${rule.into} only ${rule.only.join(', ')}: ${rule.why}`, () => {
      for (const only of rule.only) expect(existsSync(join(root, only)), `${only} is gone`).toBe(true);
      const strangers = sourceFiles(rule.from).flatMap((file) =>
        ownImports(file)
          .filter((target) => roomOf(target) === rule.into && !rule.only.includes(target))
          .map((target) => `${file} → ${target}`),
      );
      expect(strangers).toEqual([]);
    });
  }

  it('issue 29.2: only the contract of src/sandbox crosses to other processes, but for pure checks that both make', () => {
    const crossing = Object.keys(TABLE)
      .filter((room) => room !== 'src/sandbox')
      .flatMap((room) => sourceFiles(room).flatMap(ownImports))
      .filter((target) => /^src\/sandbox\/(?!contract\/|client\/)/.test(target));
    expect([...new Set(crossing)].toSorted()).toEqual(Object.keys(BESIDE_THE_CONTRACT).toSorted());
  });

  for (const [room, floors] of Object.entries(FLOORS)) {
    it(`issue 29: the folders of ${room} import only what is below them`, () => {
      const names = floors.map(({ folder }) => folder);
      const found = readdirSync(join(root, room), { withFileTypes: true });
      expect(found.filter((entry) => !entry.isDirectory()).map(({ name }) => name)).toEqual([]);
      expect(found.map(({ name }) => name).sort()).toEqual([...names].sort());
      const floorOf = (path: string): number => names.indexOf(relative(room, path).split('/')[0] ?? '');
      const upwards = sourceFiles(room).flatMap((file) =>
        ownImports(file)
          .filter((target) => roomOf(target) === room && floorOf(target) < floorOf(file))
          .map((target) => `${file} → ${target}`),
      );
      expect(upwards).toEqual(Object.keys(UPWARDS).filter((arrow) => arrow.startsWith(`${room}/`)));
    });
  }

  it('issue 29: code of the daemon and of the spawner meet in contracts only', () => {
    const runsIn = (path: string) =>
      Object.entries(FLOORS).flatMap(([room, floors]) =>
        floors.filter(({ folder }) => path.startsWith(`${room}/${folder}/`)).map((floor) => floor.runsIn),
      )[0];
    const crossing = Object.keys(FLOORS)
      .flatMap(sourceFiles)
      .flatMap((file) => ownImports(file).map((target) => [file, target] as const))
      .filter(([file, target]) => {
        const [from, to] = [runsIn(file), runsIn(target)];
        return to !== undefined && to !== 'any' && from !== undefined && from !== 'any' && from !== to;
      })
      .map((arrow) => arrow.join(' → '));
    expect(crossing).toEqual([]);
  });

  it('issue 29: the main.ts of a process or thread is started and never imported', () => {
    const importers = [...Object.keys(TABLE).filter((room) => room.startsWith('src/'))]
      .flatMap(sourceFiles)
      .flatMap((file) => ownImports(file).map((target) => [file, target] as const))
      .filter(([, target]) => /^src\/.*\/main\.ts$/.test(target));
    expect(importers).toEqual([]);
    const started = sourceFiles('src').flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(/new URL\('(\.[^']*\.js)', import\.meta\.url\)/g)].map(
        ([, program = '']) => join(dirname(file), program),
      ),
    );
    expect(started.length).toBeGreaterThan(8);
    expect(started.filter((program) => !program.startsWith('program/') && !program.endsWith('/main.js'))).toEqual([]);
  });

  it('the contracts of a call depend on no transport', () => {
    const reached = new Set(sourceFiles('src/call'));
    for (const file of reached) for (const target of ownImports(file)) reached.add(target);
    const transports = [...reached]
      .flatMap((file) => importsOf(file).map((specifier) => `${file} → ${specifier}`))
      .filter((arrow) => arrow.endsWith('@grpc/grpc-js') || /node:(http|net|tls)/.test(arrow));
    expect(reached.size).toBeGreaterThan(1);
    expect(transports).toEqual([]);
  });

  it('the compiled client has no dependency but the parser, which it loads for a few commands of a shell', () => {
    const packages = sourceFiles('src/proxy').flatMap((file) =>
      importsOf(file)
        .filter((specifier) => !specifier.startsWith('.') && !specifier.startsWith('node:'))
        .map((specifier) => `${file} → ${specifier}`),
    );
    const readers = ['kept-state', 'left-behind', 'reads-input', 'syntax'];
    expect(packages).toEqual(readers.map((name) => `src/proxy/shell/${name}.ts → unbash`));
    const others = sourceFiles('src/proxy').filter((file) => !readers.includes(basename(file, '.ts')));
    const eager = /^import (?!type )[^;]*from '[^']*\/(?:kept-state|left-behind|reads-input|syntax)\.ts'/m;
    expect(others.filter((file) => eager.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
  });

  it('issue 28: commands reach files by path only where the table says why', () => {
    const found = callsIn(['src/cli'], () => true);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(sorted(FILE_CALLS, 'src/cli/')));
  });

  it('issue 28: the daemon and the proxy change files only where the table says why', () => {
    const found = callsIn(['src/daemon', 'src/features', 'src/proxy'], (call) => !READS.test(call));
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(sorted(FILE_CHANGES)));
  });

  it('issue 28: nothing removes a tree by path where a user inside can exchange directories for links', () => {
    const found = callsIn(['src/sandbox', 'src/guard', 'src/fs'], (call) => ['rm', 'cp'].includes(call));
    expect([...found]).toEqual([]);
  });

  it('what depends on a tool goes by its effects: no room of a call knows a core tool by its name', () => {
    const tools = readdirSync(join(root, 'tools'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    expect(tools.length).toBeGreaterThan(14);
    const found = NAMELESS_ROOMS.flatMap(sourceFiles).flatMap((file): [string, readonly string[]][] => {
      const names = toolNamesIn(file, tools);
      return names.length === 0 ? [] : [[file, names]];
    });
    const known = Object.entries(TOOL_NAMES).map(([file, { names }]) => [file, names]);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(known));
  });

  it('one file of each program reads process.env', () => {
    const readers = Object.keys(TABLE)
      .filter((room) => room.startsWith('src/'))
      .flatMap(sourceFiles)
      .filter((file) => /process\.env\b|process\[/.test(readFileSync(join(root, file), 'utf8')));
    expect(readers.sort()).toEqual([...ENVIRONMENT_READERS].sort());
  });
});

it.each(['ARCHITECTURE.md', 'CONTRIBUTING.md'])('%s names only files that exist', (document) => {
  const folders = ['bench', 'docs', 'proto', 'scripts', 'sdk', 'src', 'test', 'tools'];
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((entry) => `/${folder}/${entry}`),
  );
  const named = [...readFileSync(join(root, document), 'utf8').matchAll(/`([\w./-]+\.(?:json|md|proto|svg|ts))`/g)];
  expect(named.length).toBeGreaterThan(5);
  const gone = named.filter(([, name]) => !files.some((file) => file.endsWith(`/${name}`))).map(([, name]) => name);
  expect(gone).toEqual([]);
});
