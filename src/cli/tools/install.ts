import { checkName } from '../../catalog/reserved-names.ts';
import { ContextdError } from '../../core/errors.ts';
import type {
  InstallRequest__Output as InstallRequest,
  ToolInfo__Output as ToolInfo,
  ToolPlan__Output as ToolPlan,
} from '../../protocol/generated/management.ts';
import { formatBytes } from '../bytes.ts';
import type { DaemonClient } from '../client.ts';
import type { CliContext } from '../context.ts';
import { prepareTools } from '../init/tools.ts';
import { confirm } from '../input.ts';
import { createProgress } from '../progress.ts';
import { printable, write } from '../render.ts';
import { writeLock } from './lock.ts';

/** What one installation did. */
export interface Installed {
  name: string;
  state: 'installed' | 'updated' | 'unchanged';
  version: string;
  source: string;
  commit: string;
  bundle_sha256: string;
}

export interface InstallOptions {
  context: CliContext;
  client: DaemonClient;
  root: string;
  /** True if `--yes` was given: grants up to `install.yes_grants` are given without a question. */
  isAgreed: boolean;
  /** Throws if the tool is not the one that is wanted. */
  check?(plan: ToolPlan): void;
}

/** How a tool is fetched; what is left out is not asked for. */
export type Wanted = Pick<InstallRequest, 'source'> &
  Partial<Pick<InstallRequest, 'cwd' | 'submodules' | 'lfs' | 'commit' | 'archive_sha256'>>;

/** Fetches a tool, shows what it asks for, and adds it to the project and its lock file if the person agrees. */
export async function installOne(wanted: Wanted, options: InstallOptions): Promise<Installed> {
  const { context, client, root } = options;
  const progress = createProgress(context.stderr);
  try {
    return await client.installTool(requestOf(wanted, options), {
      signal: context.signal,
      onProgress: (now) => progress.show(now),
      async decide(plan) {
        progress.end();
        options.check?.(plan);
        return settle(plan, { ...options, context, client, root });
      },
    });
  } finally {
    progress.end();
  }
}

/** What an update would change. Nothing is kept of it. */
export async function lookAt(wanted: Wanted, options: Omit<InstallOptions, 'isAgreed'>): Promise<ToolPlan> {
  const { context, client } = options;
  const progress = createProgress(context.stderr);
  try {
    const by = { signal: context.signal, onProgress: progress.show, decide: async (plan: ToolPlan) => plan };
    return await client.installTool(requestOf(wanted, options), by);
  } finally {
    progress.end();
  }
}

function requestOf(wanted: Wanted, { context, root }: Pick<InstallOptions, 'context' | 'root'>): InstallRequest {
  const usual = { cwd: context.cwd, submodules: false, lfs: false, commit: '', archive_sha256: '' };
  return { ...usual, ...wanted, root, variables: { ...context.env.install } };
}

/** The tool of a plan. The daemon always sends one. */
export function toolOf({ tool }: ToolPlan): ToolInfo {
  if (tool !== null) return tool;
  throw new ContextdError('INTERNAL_ERROR', 'the daemon sent a plan without a tool');
}

async function settle(plan: ToolPlan, { context, client, root, isAgreed }: InstallOptions): Promise<Installed> {
  const tool = toolOf(plan);
  // The daemon knows the PATH of its start only.
  await checkName(tool.name, context.env.path);
  if (plan.state !== 'same') await askFor(plan, context, isAgreed);
  // Whatever is in the way of the project's files stops this before the tool can run.
  const others = (await client.listTools({ root, offered: true })).tools.filter(({ name }) => name !== tool.name);
  const change = await prepareTools(context, root, [...others, tool]);
  const { tools } = await client.acceptTool({ root, bundle_sha256: tool.bundle_sha256, unattended: isAgreed });
  await change.apply();
  writeLock(root, { tools });
  return installed(plan);
}

async function askFor(plan: ToolPlan, context: CliContext, isAgreed: boolean): Promise<void> {
  const lines = describePlan(plan);
  if (isAgreed) return write(context.stderr, `${lines.map(printable).join('\n')}\n`);
  const done = plan.state === 'new' ? 'installed' : 'updated';
  const refusal = new ContextdError('CANCELLED', `${toolOf(plan).name} was not ${done}`, {
    remedy: 'A person answers yes at a terminal; --yes accepts what install.yes_grants names.',
  });
  await confirm(context, lines, plan.state === 'new' ? 'Install it?' : 'Update it?', refusal);
}

/** Files of a change that are listed. */
const FILES_SHOWN = 8;

/** What a person reads before they agree. */
export function describePlan(plan: ToolPlan): string[] {
  const tool = toolOf(plan);
  const origin = tool.installed_from;
  const { before } = plan;
  return [
    // Quoted and without runs of blanks, a purpose cannot look like lines of contextd's own.
    `${tool.name} ${tool.version}: "${tool.purpose.replaceAll(/\s+/g, ' ')}"`,
    `  from ${origin?.source ?? ''}${origin?.commit ? `, commit ${origin.commit.slice(0, 12)}` : ''}`,
    `  ${origin?.signer ? `signed by ${origin.signer}` : 'not signed'}; ${plan.files} files, ${formatBytes(plan.bytes)}; its schema costs ${tool.schema_tokens} tokens in a session`,
    ...(before === null ? [] : changeLines(plan, before)),
    ...(plan.grant_words.length === 0
      ? ['  It asks for nothing beyond its arguments and the project.']
      : ['  It asks to:']),
    ...plan.grant_words.map((words, index) => {
      const isNew = before !== null && plan.new_grants.includes(tool.grants[index] ?? '');
      return `    - ${words}${isNew ? ' (new)' : ''}`;
    }),
  ];
}

function changeLines(plan: ToolPlan, before: ToolInfo): string[] {
  const files = [
    ...plan.files_added.map((path) => `+ ${path}`),
    ...plan.files_removed.map((path) => `- ${path}`),
    ...plan.files_changed.map((path) => `~ ${path}`),
  ];
  const more = files.length - FILES_SHOWN;
  const signer = before.installed_from?.signer ?? '';
  return [
    ...(signer !== '' && signer !== toolOf(plan).installed_from?.signer
      ? [`  the one before was signed by ${signer}`]
      : []),
    ...(before.installed_from !== null && before.installed_from.source !== toolOf(plan).installed_from?.source
      ? [`  the one before came from ${before.installed_from.source}`]
      : []),
    `  instead of ${before.version}; ${plan.schema_changed ? 'its arguments change' : 'its arguments stay'}`,
    ...files.slice(0, FILES_SHOWN).map((line) => `    ${line}`),
    ...(more > 0 ? [`    and ${more} more files`] : []),
  ];
}

function installed(plan: ToolPlan): Installed {
  const { name, version, bundle_sha256, installed_from: origin } = toolOf(plan);
  const state = plan.state === 'same' ? 'unchanged' : plan.before === null ? 'installed' : 'updated';
  return { name, state, version, source: origin?.source ?? '', commit: origin?.commit ?? '', bundle_sha256 };
}
