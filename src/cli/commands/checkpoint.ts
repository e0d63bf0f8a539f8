import { basename, dirname, resolve } from 'node:path';
import { ContextdError, isErrno } from '../../core/errors.ts';
import type {
  CheckpointItem__Output as CheckpointItem,
  CheckpointText__Output as CheckpointText,
} from '../../protocol/generated/management.ts';
import { withClient } from '../client.ts';
import { defineCommand } from '../command.ts';
import type { CliContext } from '../context.ts';
import { ensureRunning } from '../daemon/launch.ts';
import { OwnedDirectory } from '../files/owned-directory.ts';
import { realDirectory } from '../files/real-directory.ts';
import { readInput } from '../input.ts';
import { currentProject } from '../project-root.ts';
import type { View } from '../render.ts';

const SESSION = {
  syntax: '--session <id>',
  help: "the session id (default: from the client's environment, otherwise the project's current session)",
};
/** Bytes of an exported checkpoint. */
const FILE_MAX_BYTES = 16 * 1024 * 1024;

const checkpointSave = defineCommand<CheckpointItem>({
  name: ['checkpoint', 'save'],
  summary: 'Save what a session did so far.',
  parameters: [{ syntax: '[note]', help: 'what an agent that goes on from there must know' }],
  options: [{ syntax: '--name <name>', help: 'at most 80 characters' }, SESSION],
  async run(context, args) {
    const root = await projectOf(context);
    const session = sessionOf(context, args.text('session'));
    const request = { root, session, name: args.text('name') ?? '', note: args.word(0) ?? '' };
    return withClient(context.paths, (client) => client.saveCheckpoint(request));
  },
  view: viewItem,
});

const checkpointList = defineCommand<CheckpointItem[]>({
  name: ['checkpoint', 'list'],
  summary: 'List the checkpoints of the project, the newest first.',
  options: [{ syntax: '--session <id>', help: 'only those of this session' }],
  async run(context, args) {
    const root = await projectOf(context);
    const request = { root, session: args.text('session') ?? '', id: '', level: '', files: '' };
    return withClient(context.paths, async (client) => (await client.listCheckpoints(request)).checkpoints);
  },
  view: (items) => ({ kind: 'lines', lines: items.length === 0 ? ['there are no checkpoints'] : items.map(lineOf) }),
});

const checkpointRestore = defineCommand<CheckpointText>({
  name: ['checkpoint', 'restore'],
  summary: 'Show what a session had done when a checkpoint was saved, and put its files back if asked to.',
  parameters: [{ syntax: '<id>', help: 'as `ctxd checkpoint list` shows it' }],
  options: [
    { syntax: '--level <level>', help: 'summary, context (default) or full' },
    { syntax: '--files <what>', help: 'report how the files differ, or apply: put them back' },
  ],
  async run(context, args) {
    const root = await projectOf(context);
    const [level, files] = [args.text('level') ?? '', args.text('files') ?? ''];
    const request = { root, session: '', id: args.requiredWord(0), level, files };
    return withClient(context.paths, (client) => client.readCheckpoint(request));
  },
  view: ({ text }) => ({ kind: 'lines', lines: text.split('\n') }),
});

const checkpointExport = defineCommand<{ id: string; file: string; text: string }>({
  name: ['checkpoint', 'export'],
  summary: 'Write a checkpoint to a file for another session or machine; secrets become [SECRET:rule].',
  parameters: [
    { syntax: '<id>', help: 'as `ctxd checkpoint list` shows it' },
    { syntax: '[file]', help: 'a new file (default: standard output)' },
  ],
  async run(context, args) {
    const root = await projectOf(context);
    const request = { root, session: '', id: args.requiredWord(0), level: '', files: '' };
    const { text } = await withClient(context.paths, (client) => client.exportCheckpoint(request));
    const file = args.word(1);
    if (file !== undefined) writeNew(resolve(context.cwd, file), text);
    return { id: request.id, file: file ?? '', text };
  },
  view: ({ id, file, text }) => ({ kind: 'lines', lines: [file === '' ? text.trimEnd() : `${id} is in ${file}`] }),
  bare: ({ text }) => text.trimEnd(),
});

const checkpointImport = defineCommand<CheckpointItem>({
  name: ['checkpoint', 'import'],
  summary: 'Give a session the checkpoint of an exported file.',
  parameters: [{ syntax: '<file>', help: '- for standard input' }],
  options: [SESSION],
  async run(context, args) {
    const root = await projectOf(context);
    const word = args.requiredWord(0);
    const file = (await readInput(word === '-' ? word : `@${word}`, context, FILE_MAX_BYTES)).toString();
    const session = sessionOf(context, args.text('session'));
    return withClient(context.paths, (client) => client.importCheckpoint({ root, session, file }));
  },
  view: viewItem,
});

export const checkpointCommands = [
  checkpointSave,
  checkpointList,
  checkpointRestore,
  checkpointExport,
  checkpointImport,
];

async function projectOf(context: CliContext): Promise<string> {
  const root = await currentProject(context);
  await ensureRunning(context);
  return root;
}

function sessionOf({ env }: CliContext, given: string | undefined): string {
  return given ?? env.sessionId ?? '';
}

/** Never over a file of the person. If root runs the command, the file belongs to the owner of its directory. */
function writeNew(file: string, text: string): void {
  try {
    OwnedDirectory.at(realDirectory(dirname(file))).create(basename(file), text, 0o600);
  } catch (error) {
    if (!isErrno(error)) throw error;
    throw new ContextdError('CONFLICT', `cannot write ${file} (${error.code})`, {
      remedy: 'Name a file that does not exist.',
    });
  }
}

function viewItem(item: CheckpointItem): View {
  return { kind: 'lines', lines: [lineOf(item)] };
}

function lineOf({ id, session, name, cause, created_ms: createdMs, summary }: CheckpointItem): string {
  const when = new Date(createdMs).toISOString().slice(0, 16);
  const title = name === '' ? '' : ` "${name}"`;
  const why = cause === 'asked' ? '' : ` (${cause})`;
  return `${id}${title}${why}  ${when}  session ${session}: ${summary}`;
}
