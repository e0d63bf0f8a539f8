import { ContextdError } from '../../core/errors.ts';
import type { ToolInfo__Output as ToolInfo } from '../../protocol/generated/management.ts';
import type { DaemonClient } from '../client.ts';
import { defineCommand, type ParsedArgs } from '../command.ts';
import type { CliContext } from '../context.ts';
import { OwnedDirectory } from '../files/owned-directory.ts';
import { prepareTools } from '../init/tools.ts';
import { confirm } from '../input.ts';
import type { View } from '../render.ts';
import { inProject } from '../tools/in-project.ts';
import { readLock, writeLock } from '../tools/lock.ts';

const PROJECT = { syntax: '--project <dir>', help: 'the project directory (default: the current project)' };
const YES = { syntax: '--yes', help: 'do not ask' };

const toolRemove = defineCommand({
  name: ['tool', 'remove'],
  summary: 'Take an installed tool out of the project. Other projects keep it.',
  parameters: [{ syntax: '<tool>', help: 'the tool' }],
  options: [YES, PROJECT],
  run: (context, args) => changed(context, args, REMOVAL),
  view: ({ root, name }): View => ({ kind: 'lines', lines: [`${name} is no longer a tool of ${root}`] }),
});

const toolRollback = defineCommand({
  name: ['tool', 'rollback'],
  summary: 'Return to the version of a tool that the project used before, with what was granted to it then.',
  parameters: [{ syntax: '<tool>', help: 'the tool' }],
  options: [YES, PROJECT],
  run: (context, args) => changed(context, args, ROLLBACK),
  view: ({ name, version }): View => ({ kind: 'lines', lines: [`${name} is ${version} again`] }),
});

export const toolRemoveCommands = [toolRemove, toolRollback];

/** A change of one installed tool that takes something away from the project. */
interface Change {
  isRemoval: boolean;
  apply(client: DaemonClient, request: ToolOfProject): Promise<{ tools: ToolInfo[] }>;
  /** What a person reads and is asked. Throws if the change is impossible. */
  ask(client: DaemonClient, request: ToolOfProject, tool: ToolInfo): Promise<{ lines: string[]; question: string }>;
  /** What is so if they say no. */
  unchanged(tool: ToolInfo): string;
}

interface ToolOfProject {
  root: string;
  name: string;
}

const REMOVAL: Change = {
  isRemoval: true,
  apply: (client, request) => client.removeTool(request),
  ask: async (_client, { name }, tool) => ({
    lines: [versionLine(tool)],
    question: `Take ${name} and what was granted to it out of the project?`,
  }),
  unchanged: ({ name }) => `${name} was not removed`,
};

const ROLLBACK: Change = {
  isRemoval: false,
  apply: (client, request) => client.rollbackTool({ ...request, preview: false }),
  async ask(client, request, tool) {
    const { tools } = await client.rollbackTool({ ...request, preview: true });
    const before = tools.find(({ name }) => name === request.name) ?? tool;
    const granted = before.grants.length === 0 ? 'nothing' : before.grants.join(', ');
    return {
      lines: [`now: ${versionLine(tool)}`, `before: ${versionLine(before)}; granted to it then: ${granted}`],
      question: `Return to ${versionLine(before)}?`,
    };
  },
  unchanged: ({ name, version }) => `${name} stays at ${version}`,
};

function versionLine({ name, version, installed_from: origin }: ToolInfo): string {
  const commit = origin?.commit ? `, commit ${origin.commit.slice(0, 12)}` : '';
  return `${name} ${version} from ${origin?.source ?? ''}${commit}`;
}

/** Changes one installed tool if the person agrees, then the project's files and its lock file. */
async function changed(
  context: CliContext,
  args: ParsedArgs,
  { isRemoval, apply, ask, unchanged }: Change,
): Promise<{ root: string; name: string; version: string }> {
  const name = args.requiredWord(0);
  return inProject(context, args, async (client, root) => {
    readLock(OwnedDirectory.at(root));
    const { tools: present } = await client.listTools({ root, offered: false });
    const tool = present.find((one) => one.name === name && one.origin === 'installed');
    // The daemon says what is wrong with any other name.
    if (tool !== undefined && !args.flag('yes')) {
      const { lines, question } = await ask(client, { root, name }, tool);
      const refusal = new ContextdError('CANCELLED', unchanged(tool), {
        remedy: 'Answer yes at a terminal, or pass --yes.',
      });
      await confirm(context, lines, question, refusal);
    }
    const { tools } = await apply(client, { root, name });
    await (await prepareTools(context, root, tools)).apply();
    writeLock(root, { tools, ...(isRemoval ? { removed: name } : {}) });
    return { root, name, version: tools.find((one) => one.name === name)?.version ?? '' };
  });
}
