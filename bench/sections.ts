import type { Section } from './lib/section.ts';

interface Entry {
  title: string;
  load(): Promise<Section>;
  /** Whether root runs it as an ordinary user too. Default true. */
  isForEachAccount?: boolean;
}

/** The index of the benchmark. Only the process that runs a section loads it, so that every process stays small. */
export const SECTIONS: Readonly<Record<string, Entry>> = {
  sandbox: {
    title: 'A sandbox, compared with starting a command without one',
    load: async () => (await import('./sections/sandbox.ts')).sandboxSection,
  },
  call: {
    title: 'Calls over an open channel, all nine steps',
    load: async () => (await import('./sections/open-channel.ts')).openChannelSection,
  },
  process: {
    title: 'Whole processes, as an agent calls them',
    load: async () => (await import('./sections/whole-process.ts')).wholeProcessSection,
  },
  network: {
    title: 'The network: sandboxes with it, downloads, and caches between calls',
    load: async () => (await import('./sections/network.ts')).networkSection,
  },
  policy: {
    title: 'What a large project with deny globs adds',
    load: async () => (await import('./sections/policy-cost.ts')).policySection,
  },
  undo: {
    title: 'What it costs to know what a call did to files',
    load: async () => (await import('./sections/undo.ts')).undoSection,
  },
  'branch-files': {
    title: 'Calls in a branch with files of its own',
    load: async () => (await import('./sections/branch-files.ts')).branchFilesSection,
  },
  merges: {
    title: 'Opening, merging and taking back a branch of ten files',
    isForEachAccount: false,
    load: async () => (await import('./sections/merges.ts')).mergesSection,
  },
  aggregate: {
    title: 'Sandboxes in a row, and what they leave behind',
    load: async () => (await import('./sections/aggregate.ts')).aggregateSection,
  },
  scrub: {
    title: 'Searching an output for secrets',
    isForEachAccount: false,
    load: async () => (await import('./sections/scrub.ts')).scrubSection,
  },
  answer: {
    title: 'Storing an output and cutting an answer from it',
    load: async () => (await import('./sections/answer.ts')).answerSection,
  },
  savings: {
    title: 'Tokens that answers save, follow-up questions included',
    load: async () => (await import('./sections/savings.ts')).savingsSection,
  },
  forms: {
    title: 'Tokens of a call in text and in JSON',
    load: async () => (await import('./sections/forms.ts')).formsSection,
  },
  tokens: {
    title: 'Counting tokens',
    load: async () => (await import('./sections/tokens.ts')).tokensSection,
  },
  session: {
    title: 'A warm start, beside a command that does nothing',
    isForEachAccount: false,
    load: async () => (await import('./sections/session.ts')).sessionSection,
  },
  checkpoints: {
    title: 'Checkpoints, beside a command that does nothing',
    isForEachAccount: false,
    load: async () => (await import('./sections/checkpoints.ts')).checkpointsSection,
  },
  http: {
    title: 'Calls through the HTTP door',
    isForEachAccount: false,
    load: async () => (await import('./sections/http.ts')).httpSection,
  },
  throughput: {
    title: 'Many calls at once',
    load: async () => (await import('./sections/throughput.ts')).throughputSection,
  },
  'first-call': {
    title: 'The first call, which starts the daemon',
    load: async () => (await import('./sections/first-call.ts')).firstCallSection,
  },
  memory: {
    title: 'Memory of the daemon over many calls',
    load: async () => (await import('./sections/memory.ts')).memorySection,
  },
  memories: {
    title: 'Memories: storing and searching',
    load: async () => (await import('./sections/memories.ts')).memoriesSection,
  },
  retrieval: {
    title: 'What a search of memories finds',
    isForEachAccount: false,
    load: async () => (await import('./sections/retrieval.ts')).retrievalSection,
  },
  gateway: {
    title: 'A tool of an MCP server, through the gateway and directly',
    isForEachAccount: false,
    load: async () => (await import('./sections/gateway.ts')).gatewaySection,
  },
  route: {
    title: 'Which tools a query finds',
    isForEachAccount: false,
    load: async () => (await import('./sections/route.ts')).routeSection,
  },
  install: {
    title: 'From the source of a tool to its first answer',
    load: async () => (await import('./sections/install.ts')).installSection,
  },
  warm: {
    title: 'Builds and tests with filled caches, inside and outside',
    load: async () => (await import('./sections/warm.ts')).warmSection,
  },
  idle: {
    title: 'Thirteen projects, in use and idle',
    load: async () => (await import('./sections/idle.ts')).idleSection,
  },
  daemon: {
    title: 'The daemon',
    load: async () => (await import('./sections/daemon.ts')).daemonSection,
  },
};
