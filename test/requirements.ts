/**
 * Every requirement of the main requirement list, as data, in the words of the list. A requirement that is neither `open`
 * nor `partly` is built completely, and the title of a test that proves it cites its id. No title may cite an `open` one: a
 * test of the refusal of the rest does not prove it. Titles cite what holds of one that is built `partly`.
 */
export interface Requirement {
  text: string;
  /** Nothing proves it: what is missing, in words. */
  open?: string;
  /** Tests prove a part of it: what is missing, in words. */
  partly?: string;
}

export const REQUIREMENTS: Readonly<Record<string, Requirement>> = {
  'FR-1.1': { text: 'Single `contextd-proxy` binary serves all tools via symlink pattern' },
  'FR-1.2': { text: 'Proxy determines tool from `argv[0]` (symlink name)' },
  'FR-1.3': { text: 'Proxy communicates with contextd server via gRPC' },
  'FR-1.4': { text: 'Server executes tools via hashicorp/go-plugin (subprocess isolation)' },
  'FR-2.1': { text: 'Tools installed to `.claude/tools/<tool_name>/` directory' },
  'FR-2.2': { text: 'Each tool directory contains: `schema.json`, `TOOL.md`, symlink to proxy' },
  'FR-2.3': { text: '`schema.json` follows JSON Schema draft 2020-12' },
  'FR-2.4': { text: '`TOOL.md` is minimal (~100 tokens max)' },
  'FR-2.5': { text: 'Extended docs in `TOOL_EXTENDED.md` (loaded on-demand only)' },
  'FR-3.1': { text: 'All tools implement `Execute(ctx, input) → Response` interface' },
  'FR-3.2': { text: 'Every response includes `tokens_used` field' },
  'FR-3.3': { text: 'Large responses include `has_more` and continuation mechanism' },
  'FR-3.4': { text: 'Truncated responses include `truncated: true`' },
  'FR-3.5': { text: 'Reference-based responses include `refs` array for deferred loading' },
  'FR-4.1': { text: '`safe_bash` - Execute shell commands with scrubbing' },
  'FR-4.2': { text: '`safe_read` - Read files with path restrictions and scrubbing' },
  'FR-4.3': { text: '`safe_write` - Write files with path restrictions and audit' },
  'FR-5.1': { text: '`memory_search` - Search memories, return references by default' },
  'FR-5.2': { text: '`memory_get` - Get full memory content by ID' },
  'FR-5.3': { text: '`memory_store` - Store new reasoning pattern' },
  'FR-5.4': { text: '`memory_feedback` - Provide outcome feedback on memory' },
  'FR-6.1': { text: '`branch` - Create isolated subtask context' },
  'FR-6.2': { text: '`return` - Complete branch, return summary to parent' },
  'FR-6.3': { text: 'Branch context isolated from parent (no pollution)' },
  'FR-6.4': { text: 'Return supports `extract_memory: true` for async distillation' },
  'FR-7.1': { text: '`checkpoint_save` - Save session state, return ID' },
  'FR-7.2': { text: '`checkpoint_restore` - Restore with levels: summary/context/full' },
  'FR-7.3': { text: 'Default restore level is `context` (not full)' },
  'FR-7.4': { text: '`checkpoint_list` - List available checkpoints with summaries' },
  'FR-8.1': { text: 'Tools receive `ToolHost` interface for host services' },
  'FR-8.2': {
    text: 'ToolHost provides: Scrub, Log, MemorySearch, MemoryStore',
  },
  'FR-8.3': { text: 'ToolHost provides: CheckpointSave, CheckpointRestore' },
  'FR-8.4': { text: 'Tools cannot access host resources without ToolHost' },
  'FR-9.1': { text: '`ctxd server start/stop` - Manage contextd server' },
  'FR-9.2': { text: '`ctxd tool install <source>` - Install tool via go-getter' },
  'FR-9.3': { text: '`ctxd tool list/remove/update` - Manage installed tools' },
  'FR-9.4': { text: "`ctxd tool run <tool> --input '{}'` - Test tool directly" },
  'FR-9.5': { text: '`ctxd doctor` - Health check (server, qdrant, tools)' },
  'FR-9.6': { text: '`ctxd config set/get` - Configuration management' },
  'FR-10.1': { text: 'Support git sources: `github.com/org/tool@version`' },
  'FR-10.2': { text: 'Support HTTP sources: `https://example.com/tool.tar.gz`' },
  'FR-10.3': { text: 'Support S3 sources: `s3::bucket/tool.zip`' },
  'FR-10.4': { text: 'Verify tool binary hash on install' },
  'FR-10.5': { text: 'Create symlink to contextd-proxy on install' },
  'CE-1.1': {
    text: 'Tool discovery (all schemas) < 1,500 tokens',
    partly: 'the core tools are; nothing bounds those that a person installs',
  },
  'CE-1.2': { text: 'Individual TOOL.md < 100 tokens' },
  'CE-1.3': { text: 'Search responses default < 500 tokens' },
  'CE-1.4': { text: 'Any single tool response < 2,000 tokens (unless explicit)' },
  'CE-1.5': { text: 'Checkpoint restore (context level) < 3,000 tokens' },
  'CE-2.1': { text: '`memory_search` defaults to references (IDs + titles only)' },
  'CE-2.2': { text: 'Full content requires explicit `memory_get` call' },
  'CE-2.3': { text: '`checkpoint_restore` defaults to `context` level' },
  'CE-2.4': { text: 'Large bash/read output truncated with continuation token' },
  'CE-3.1': { text: 'TOOL.md loaded on first tool use, not at discovery' },
  'CE-3.2': { text: 'TOOL_EXTENDED.md never auto-loaded' },
  'CE-3.3': { text: 'Memory content loaded only via explicit `memory_get`' },
  'CE-4.1': { text: '`session_init` provides warm start (~800 tokens)' },
  'CE-4.2': { text: 'Warm start includes: recent checkpoints, relevant memories, blockers' },
  'CE-4.3': { text: 'Branch isolation prevents context pollution to parent' },
  'SEC-1.1': {
    text: 'All tool output scrubbed via gitleaks before return',
    partly:
      'its rules run in the engine of contextd; the program itself, if it is installed, searches answers of up to 64 KiB before they leave, longer ones after',
  },
  'SEC-1.2': {
    text: 'Dual scrubbing: tool-level + server-level',
    partly:
      'core tools are; a tool of others is scrubbed in the server, and in the tool only if it asks ToolHost.Scrub',
  },
  'SEC-1.3': { text: 'Secrets tokenized (e.g., `[SECRET_1]`), not redacted' },
  'SEC-1.4': { text: 'Token registry stores mappings for tool-to-tool flow' },
  'SEC-2.1': { text: 'Tools execute in separate process (go-plugin)' },
  'SEC-2.2': { text: 'Seccomp profiles restrict syscalls per tool' },
  'SEC-2.3': { text: 'Linux namespaces isolate: pid, net, mount, user' },
  'SEC-2.4': { text: 'Network namespace blocks all network by default' },
  'SEC-2.5': { text: 'Resource limits via cgroups (memory, CPU)' },
  'SEC-3.1': { text: 'mTLS between proxy and server' },
  'SEC-3.2': { text: 'gRPC with certificate validation' },
  'SEC-3.3': { text: 'Unix socket with restrictive permissions (0600)' },
  'SEC-4.1': { text: 'Tool binaries verified by hash on load' },
  'SEC-4.2': { text: 'Symlink targets verified at startup' },
  'SEC-4.3': { text: "Proxy verifies it's running from expected location" },
  'SEC-5.1': { text: 'All tool invocations logged' },
  'SEC-5.2': { text: 'Log includes: tool, input (scrubbed), output hash, duration' },
  'SEC-5.3': { text: 'Log includes: session ID, timestamp, secrets found' },
  'SEC-5.4': { text: 'Audit log is append-only' },
  'NFR-1.1': {
    text: 'Tool invocation latency < 50ms (excluding execution)',
    open: 'measured by npm run bench, not timed in tests',
  },
  'NFR-1.2': { text: 'Proxy → server round-trip < 10ms', open: 'measured by npm run bench, not timed in tests' },
  'NFR-1.3': {
    text: 'Scrubbing adds < 20ms for typical output',
    open: 'measured by npm run bench, not timed in tests',
  },
  'NFR-1.4': { text: 'Support concurrent tool executions' },
  'NFR-2.1': { text: 'Graceful degradation if Qdrant unavailable' },
  'NFR-2.2': { text: 'Tool timeout configurable (default 30s, max 300s)' },
  'NFR-2.3': {
    text: "Server restart doesn't lose in-flight requests",
    partly: 'a call that takes longer than server.drain_ms is ended, with what it printed',
  },
  'NFR-3.1': {
    text: 'Works with Claude Code (primary)',
    open: 'what ctxd init writes for it is tested; test/clients runs the client only where npm can install it',
  },
  'NFR-3.2': {
    text: 'Works with OpenCode',
    open: 'what ctxd init writes for it is tested; test/clients runs the client only where npm can install it',
  },
  'NFR-3.3': { text: 'Works with any agent reading .claude/tools/' },
  'NFR-3.4': { text: 'Linux required for seccomp/namespaces' },
  'NFR-3.5': {
    text: 'macOS supported with reduced isolation',
    open: 'the profile is tested on Linux with a stand-in; nothing has run on a Mac',
  },
  'NFR-4.1': { text: 'Third-party tools can implement Tool interface' },
  'NFR-4.2': { text: 'Custom tools installable via ctxd' },
  'NFR-4.3': {
    text: 'Tool SDK published as Go package',
  },
  'API-1': { text: 'gRPC (Tool-facing)' },
  'API-2': { text: 'gRPC (CLI-facing)' },
  'API-3': { text: 'HTTP (Automation-facing)' },
  'DATA-1': { text: 'Tool Definition' },
  'DATA-2': { text: 'Response Format' },
  'DATA-3': { text: 'TOOL.md Format' },
};

/** Compares the requirements with the titles of the tests. Returns a line for each fault. */
export function findCitationFaults(
  requirements: Readonly<Record<string, Requirement>>,
  titles: readonly string[],
): string[] {
  const citing = new Map<string, string>();
  for (const title of titles) for (const id of title.match(REQUIREMENT_ID) ?? []) citing.set(id, title);
  return [
    ...[...citing].flatMap(([id, title]) => {
      const requirement = requirements[id];
      if (requirement === undefined) return [`${id} is not a requirement: ${title}`];
      return requirement.open === undefined
        ? []
        : [`${id} is open (${requirement.open}), so no test proves it: ${title}`];
    }),
    ...Object.entries(requirements).flatMap(([id, { open, partly }]) => {
      if (partly !== undefined && (partly.length < 3 || open !== undefined))
        return [`${id} is built partly without a reason`];
      if (open !== undefined) return open.length < 3 ? [`${id} is open without a reason`] : [];
      return citing.has(id) ? [] : [`${id} is cited by no test`];
    }),
  ];
}

/** The ids of the requirements that hold as they are written. */
export function builtOf(requirements: Readonly<Record<string, Requirement>>): string[] {
  return Object.entries(requirements).flatMap(([id, { open, partly }]) =>
    open === undefined && partly === undefined ? [id] : [],
  );
}

const REQUIREMENT_ID = /\b(?:FR|CE|SEC|NFR|API|DATA)-\d+(?:\.\d+)?\b/g;
