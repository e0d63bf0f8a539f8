/**
 * Every requirement of the main requirement list, as data. A requirement that is not `open` is built completely, and
 * the title of a test that proves it cites its id. An `open` requirement is not built completely, and no title may cite
 * it: a test of the existing part, or of the refusal of the rest, does not prove the requirement.
 */
export interface Requirement {
  text: string;
  /** What is missing, in words. */
  open?: string;
}

export const REQUIREMENTS: Readonly<Record<string, Requirement>> = {
  'FR-1.1': { text: 'One contextd-proxy binary serves all tools through links' },
  'FR-1.2': { text: 'The proxy takes the tool from argv[0]' },
  'FR-1.3': { text: 'The proxy speaks gRPC with the server' },
  'FR-1.4': { text: 'Tools run through the go-plugin protocol, in their own process' },
  'FR-2.1': { text: 'Tools are placed in .claude/tools/<tool>/' },
  'FR-2.2': { text: 'Each directory holds schema.json, TOOL.md and the link to the proxy' },
  'FR-2.3': { text: 'schema.json follows JSON Schema draft 2020-12' },
  'FR-2.4': { text: 'TOOL.md is minimal (about 100 tokens)' },
  'FR-2.5': { text: 'Extended documents are loaded only on demand' },
  'FR-3.1': { text: 'All tools implement Execute(ctx, input)' },
  'FR-3.2': { text: 'Every response includes tokens_used' },
  'FR-3.3': { text: 'Large responses include has_more and a way to continue' },
  'FR-3.4': { text: 'Truncated responses say truncated: true' },
  'FR-3.5': { text: 'Reference-based responses include refs' },
  'FR-4.1': { text: 'safe_bash runs commands with scrubbing' },
  'FR-4.2': { text: 'safe_read reads files with path restrictions and scrubbing' },
  'FR-4.3': { text: 'safe_write writes files with path restrictions and audit' },
  'FR-5.1': { text: 'memory_search returns references by default' },
  'FR-5.2': { text: 'memory_get returns full content by id' },
  'FR-5.3': { text: 'memory_store stores a reasoning pattern' },
  'FR-5.4': { text: 'memory_feedback records an outcome' },
  'FR-6.1': { text: 'branch creates an isolated subtask context' },
  'FR-6.2': { text: 'return completes a branch with a summary' },
  'FR-6.3': { text: 'A branch is isolated from its parent' },
  'FR-6.4': { text: 'return supports extract_memory' },
  'FR-7.1': { text: 'checkpoint_save saves session state' },
  'FR-7.2': { text: 'checkpoint_restore has three levels' },
  'FR-7.3': { text: 'The default restore level is context' },
  'FR-7.4': { text: 'checkpoint_list lists with summaries' },
  'FR-8.1': { text: 'Tools receive a ToolHost' },
  'FR-8.2': { text: 'ToolHost provides Scrub, Log, MemorySearch, MemoryStore' },
  'FR-8.3': { text: 'ToolHost provides CheckpointSave and CheckpointRestore' },
  'FR-8.4': { text: 'Tools reach host resources only through ToolHost' },
  'FR-9.1': { text: 'ctxd server start/stop' },
  'FR-9.2': { text: 'ctxd tool install' },
  'FR-9.3': { text: 'ctxd tool list/remove/update' },
  'FR-9.4': { text: 'ctxd tool run' },
  'FR-9.5': { text: 'ctxd doctor checks server, Qdrant and tools' },
  'FR-9.6': { text: 'ctxd config set/get' },
  'FR-10.1': { text: 'Git sources' },
  'FR-10.2': { text: 'HTTP sources' },
  'FR-10.3': { text: 'S3 sources' },
  'FR-10.4': { text: 'Hash verified on install' },
  'FR-10.5': { text: 'Link created on install' },
  'CE-1.1': { text: 'All schemas together under 1,500 tokens' },
  'CE-1.2': { text: 'Each TOOL.md under 100 tokens' },
  'CE-1.3': { text: 'Search responses default to under 500 tokens' },
  'CE-1.4': { text: 'Any response under 2,000 tokens unless asked' },
  'CE-1.5': { text: 'Checkpoint restore under 3,000 tokens' },
  'CE-2.1': { text: 'memory_search defaults to references' },
  'CE-2.2': { text: 'Full content needs memory_get' },
  'CE-2.3': { text: 'checkpoint_restore defaults to context' },
  'CE-2.4': { text: 'Large output is cut with a continuation' },
  'CE-3.1': { text: 'TOOL.md is loaded on first use, not at discovery' },
  'CE-3.2': { text: 'TOOL_EXTENDED.md is never loaded automatically' },
  'CE-3.3': { text: 'Memory content only through memory_get' },
  'CE-4.1': { text: 'session_init gives a warm start' },
  'CE-4.2': { text: 'Warm start holds checkpoints, memories, blockers' },
  'CE-4.3': { text: 'Branches do not pollute their parent', open: 'there are no branches yet' },
  'SEC-1.1': { text: 'All tool output is scrubbed before it returns' },
  'SEC-1.2': { text: 'Scrubbed twice: in the tool and in the server' },
  'SEC-1.3': { text: 'Secrets become tokens' },
  'SEC-1.4': { text: 'A registry maps tokens for tool-to-tool flow' },
  'SEC-2.1': { text: 'Tools execute in a separate process' },
  'SEC-2.2': { text: 'Seccomp profiles per tool' },
  'SEC-2.3': { text: 'Namespaces isolate pid, net, mount, user' },
  'SEC-2.4': { text: 'No network by default' },
  'SEC-2.5': { text: 'Resource limits through cgroups' },
  'SEC-3.1': { text: 'mTLS between proxy and server' },
  'SEC-3.2': { text: 'gRPC with certificate validation' },
  'SEC-3.3': { text: 'Unix socket with mode 0600' },
  'SEC-4.1': { text: 'Tool files verified by hash on load' },
  'SEC-4.2': { text: 'Link targets verified at startup' },
  'SEC-4.3': { text: 'The proxy verifies where it runs from' },
  'SEC-5.1': { text: 'All invocations are logged' },
  'SEC-5.2': { text: 'The log holds tool, scrubbed input, output hash, duration' },
  'SEC-5.3': { text: 'The log holds session, time, secrets found' },
  'SEC-5.4': { text: 'The audit log is append-only' },
  'NFR-1.1': {
    text: 'A call costs under 50 ms without its execution',
    open: 'measured by npm run bench, not timed in tests',
  },
  'NFR-1.2': { text: 'Proxy to server and back under 10 ms', open: 'measured by npm run bench, not timed in tests' },
  'NFR-1.3': { text: 'Scrubbing adds under 20 ms', open: 'measured by npm run bench, not timed in tests' },
  'NFR-1.4': { text: 'Calls run concurrently' },
  'NFR-2.1': { text: 'Keeps working if Qdrant is down' },
  'NFR-2.2': { text: 'Timeout 120 s by default, an hour at most unless a person sets more (decision 0030)' },
  'NFR-2.3': { text: 'A restart does not lose running calls' },
  'NFR-3.1': {
    text: 'Works with Claude Code',
    open: 'what ctxd init writes for it is tested; no test runs the client',
  },
  'NFR-3.2': { text: 'Works with OpenCode', open: 'what ctxd init writes for it is tested; no test runs the client' },
  'NFR-3.3': { text: 'Works with any agent that reads .claude/tools/' },
  'NFR-3.4': { text: 'Linux is required for namespaces and seccomp' },
  'NFR-3.5': {
    text: 'macOS with reduced isolation',
    open: 'the profile is tested on Linux with a stand-in; nothing has run on a Mac',
  },
  'NFR-4.1': {
    text: 'Third parties can implement a tool',
  },
  'NFR-4.2': { text: 'Custom tools are installable' },
  'NFR-4.3': { text: 'The tool SDK is published: a package that npm installs, and a Go module; in no registry yet' },
  'API-1': { text: 'ToolService' },
  'API-2': { text: 'ManagementService' },
  'API-3': { text: 'HTTP', open: 'there is no HTTP door yet' },
  'DATA-1': { text: 'The layout of a tool directory' },
  'DATA-2': { text: 'The response format' },
  'DATA-3': { text: 'The form of TOOL.md' },
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
    ...Object.entries(requirements).flatMap(([id, { open }]) => {
      if (open !== undefined) return open.length < 3 ? [`${id} is open without a reason`] : [];
      return citing.has(id) ? [] : [`${id} is cited by no test`];
    }),
  ];
}

const REQUIREMENT_ID = /\b(?:FR|CE|SEC|NFR|API|DATA)-\d+(?:\.\d+)?\b/g;
