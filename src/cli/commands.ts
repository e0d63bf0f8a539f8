import type { Command } from './command.ts';

/** The commands of one file. */
interface CommandFile {
  /** The words that these commands begin with. */
  first: readonly string[];
  load(): Promise<readonly Command[]>;
}

/**
 * The commands that can begin with `first`, or all, in the order of the help. A command line needs those of its first word
 * only, and loading all takes longer than most commands.
 */
export async function loadCommands(first?: string): Promise<readonly Command[]> {
  const wanted = FILES.filter((file) => first !== undefined && file.first.includes(first));
  const loaded = await Promise.all((wanted.length > 0 ? wanted : FILES).map((file) => file.load()));
  return loaded.flat();
}

const FILES: readonly CommandFile[] = [
  { first: ['init'], load: async () => [(await import('./commands/init.ts')).init] },
  { first: ['server'], load: async () => (await import('./commands/server.ts')).serverCommands },
  { first: ['server'], load: async () => (await import('./commands/server-install.ts')).serverInstallCommands },
  { first: ['tool'], load: async () => (await import('./commands/tool.ts')).toolCommands },
  { first: ['tool'], load: async () => (await import('./commands/tool-install.ts')).toolInstallCommands },
  { first: ['tool'], load: async () => (await import('./commands/tool-remove.ts')).toolRemoveCommands },
  { first: ['tool'], load: async () => [(await import('./commands/tool-new.ts')).toolNew] },
  { first: ['tool'], load: async () => [(await import('./commands/tool-test.ts')).toolTest] },
  { first: ['tool'], load: async () => [(await import('./commands/tool-verify.ts')).toolVerify] },
  { first: ['doctor'], load: async () => [(await import('./commands/doctor.ts')).doctor] },
  { first: ['config'], load: async () => (await import('./commands/config.ts')).configCommands },
  { first: ['port'], load: async () => [(await import('./commands/port.ts')).port] },
  { first: ['http'], load: async () => (await import('./commands/http.ts')).httpCommands },
  { first: ['mcp'], load: async () => [(await import('./commands/mcp-serve.ts')).mcpServe] },
  { first: ['mcp'], load: async () => [(await import('./commands/mcp-inspect.ts')).mcpInspect] },
  { first: ['mcp'], load: async () => [(await import('./commands/mcp-stats.ts')).mcpStats] },
  { first: ['audit'], load: async () => [(await import('./commands/audit-tail.ts')).auditTail] },
  { first: ['audit'], load: async () => (await import('./commands/audit.ts')).auditCommands },
  { first: ['backup'], load: async () => (await import('./commands/backup.ts')).backupCommands },
  { first: ['session'], load: async () => (await import('./commands/session-log.ts')).sessionLogCommands },
  { first: ['session'], load: async () => [(await import('./commands/session-secrets.ts')).sessionSecrets] },
  { first: ['session'], load: async () => [(await import('./commands/session-end.ts')).sessionEnd] },
  { first: ['branch'], load: async () => (await import('./commands/branch.ts')).branchCommands },
  { first: ['checkpoint'], load: async () => (await import('./commands/checkpoint.ts')).checkpointCommands },
  { first: ['hook'], load: async () => (await import('./commands/hook.ts')).hookCommands },
  { first: ['cache'], load: async () => (await import('./commands/cache.ts')).cacheCommands },
  { first: ['ps', 'kill'], load: async () => (await import('./commands/ps.ts')).psCommands },
  { first: ['stats'], load: async () => [(await import('./commands/stats.ts')).stats] },
  { first: ['route'], load: async () => [(await import('./commands/route-search.ts')).routeSearch] },
  { first: ['route'], load: async () => [(await import('./commands/route-browse.ts')).routeBrowse] },
  { first: ['route'], load: async () => [(await import('./commands/route-explain.ts')).routeExplain] },
  { first: ['route'], load: async () => [(await import('./commands/route-print-tree.ts')).routePrintTree] },
  { first: ['scrub'], load: async () => (await import('./commands/scrub.ts')).scrubCommands },
  { first: ['scrub'], load: async () => (await import('./commands/scrub-allow.ts')).scrubAllowCommands },
  { first: ['quarantine'], load: async () => (await import('./commands/quarantine.ts')).quarantineCommands },
  { first: ['allow'], load: async () => (await import('./commands/allow.ts')).allowCommands },
  { first: ['approve'], load: async () => [(await import('./commands/approve.ts')).approve] },
  { first: ['approve'], load: async () => (await import('./commands/approve-rules.ts')).approveRuleCommands },
  { first: ['memory'], load: async () => [(await import('./commands/memory-search.ts')).memorySearch] },
  { first: ['memory'], load: async () => (await import('./commands/memory.ts')).memoryCommands },
  { first: ['memory'], load: async () => [(await import('./commands/memory-report.ts')).memoryReport] },
  { first: ['memory'], load: async () => [(await import('./commands/memory-learn.ts')).memoryLearn] },
  { first: ['memory'], load: async () => [(await import('./commands/memory-import.ts')).memoryImport] },
  { first: ['memory'], load: async () => (await import('./commands/memory-sync.ts')).memorySyncCommands },
  { first: ['network'], load: async () => (await import('./commands/network.ts')).networkCommands },
  { first: ['network'], load: async () => [(await import('./commands/network-log.ts')).networkLog] },
  { first: ['network'], load: async () => [(await import('./commands/network-mirrors.ts')).networkMirrors] },
  {
    first: ['network'],
    load: async () => (await import('./commands/network-credential.ts')).networkCredentialCommands,
  },
  { first: ['undo'], load: async () => [(await import('./commands/undo.ts')).undo] },
  { first: ['upstream'], load: async () => (await import('./commands/upstream.ts')).upstreamCommands },
  { first: ['upstream'], load: async () => [(await import('./commands/upstream-import.ts')).upstreamImport] },
  {
    first: ['completion'],
    load: async () => {
      const { completion } = await import('./commands/completion.ts');
      return [completion(async () => ({ commands: await loadCommands(), groups: GROUPS }))];
    },
  },
];

export const GROUPS: Readonly<Record<string, string>> = {
  allow: 'Choose what commands may use outside the project: directories and toolchains.',
  'approve rule': 'Decide which calls wait for a person.',
  checkpoint: 'Save, list, show and move what sessions have done.',
  hook: "Take what a client's hook passes on standard input. Clients call it; `ctxd init` sets that up.",
  http: 'The HTTP API for programs on this machine: open it, and say who may use it.',
  mcp: 'Serve clients of the Model Context Protocol.',
  network: 'Decide which hosts commands may reach, and see what they reached.',
  'network credential': 'Bind secrets to hosts: the proxy adds them to requests, and sandboxes never have them.',
  route: 'Search the tools of a project or of a catalogue, and see how agents find them.',
  server: 'Start, stop and watch the daemon.',
  tool: 'List and call the tools of agents, and write your own.',
  config: 'Read and change the settings of this machine.',
  audit: 'Read the log of all calls.',
  backup: 'Move the state to another machine, without its keys.',
  session: 'Inspect or end a session of an agent.',
  branch: 'See the side tasks of agents.',
  memory: 'Search, add, rate and share lessons of earlier work.',
  'memory sync': 'Share memories with other machines through a Qdrant server.',
  cache: 'List or empty the caches that commands keep for each project.',
  upstream: 'Run MCP servers of others, each in a sandbox of its own.',
  quarantine: 'Review files that were set aside because a program on the host would run them.',
};
