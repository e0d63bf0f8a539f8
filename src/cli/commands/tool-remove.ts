import type { ToolInfo } from '../../call/management.ts';
import { ContextdError } from '../../core/errors.ts';
import type { DaemonClient } from '../client.ts';
import { defineCommand, type ParsedArgs } from '../command.ts';
import type { CliContext } from '../context.ts';
import { prepareTools } from '../init/tools.ts';
import { confirm } from '../input.ts';
import type { View } from '../render.ts';
import { inProject } from '../tools/in-project.ts';
import { readLock, writeLock } from '../tools/lock.ts';

const PROJECT = { syntax: '--project <dir>', help: 'the project directory (default: the current project)' };
const YES = { syntax: '--yes', help: 'do not ask' };

export const toolRemove = defineCommand({
  name: ['tool', 'remove'],
  summary: 'Take an installed tool out of the project. Other projects keep it.',
  parameters: [{ syntax: '<tool>', help: 'the tool' }],
  options: [YES, PROJECT],
  run: (context, args) => changed(context, args, REMOVAL),
  view: ({ root, name }): View => ({ kind: 'lines', lines: [`${name} is no longer a tool of ${root}`] }),
});

export const toolRollback = defineCommand({
  name: ['tool', 'rollback'],
  summary: 'Return to the version of a tool that the project used before, with what was granted to it then.',
  parameters: [{ syntax: '<tool>', help: 'the tool' }],
  options: [YES, PROJECT],
  run: (context, args) => changed(context, args, ROLLBACK),
  view: ({ name, version }): View => ({ kind: 'lines', lines: [`${name} is ${version} again`] }),
});

/** A change of one installed tool that takes something away from the project. */
interface Change {
  isRemoval: boolean;
  apply(client: DaemonClient, request: { root: string; name: string }): Promise<{ tools: ToolInfo[] }>;
  /** What a person is asked. */
  question(tool: ToolInfo): string;
  /** What is so if they say no. */
  unchanged(tool: ToolInfo): string;
}

const REMOVAL: Change = {
  isRemoval: true,
  apply: (client, request) => client.removeTool(request),
  question: ({ name }) => `Take ${name} and what was granted to it out of the project?`,
  unchanged: ({ name }) => `${name} was not removed`,
};

const ROLLBACK: Change = {
  isRemoval: false,
  apply: (client, request) => client.rollbackTool(request),
  question: ({ name }) => `Return ${name} to the version before, with what was granted to it then?`,
  unchanged: ({ name, version }) => `${name} stays at ${version}`,
};

/** Changes one installed tool if the person agrees, then the project's files and its lock file. */
async function changed(
  context: CliContext,
  args: ParsedArgs,
  { isRemoval, apply, question, unchanged }: Change,
): Promise<{ root: string; name: string; version: string }> {
  const name = args.requiredWord(0);
  return inProject(context, args, async (client, root) => {
    await readLock(root);
    const before = await client.listTools({ root, offered: false });
    const tool = before.tools.find((one) => one.name === name && one.origin === 'installed');
    // The daemon says what is wrong with any other name.
    if (tool !== undefined && !args.flag('yes')) {
      const refusal = new ContextdError('CANCELLED', unchanged(tool), {
        remedy: 'Answer yes at a terminal, or pass --yes.',
      });
      const from = tool.installed_from?.source ?? '';
      await confirm(context, [`${name} ${tool.version} from ${from}`], question(tool), refusal);
    }
    const { tools } = await apply(client, { root, name });
    await (await prepareTools(context, root, tools)).apply();
    await writeLock(root, { tools, ...(isRemoval ? { removed: name } : {}) });
    return { root, name, version: tools.find((tool) => tool.name === name)?.version ?? '' };
  });
}
