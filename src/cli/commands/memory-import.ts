import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { ContextdError } from '../../core/errors.ts';
import type { DaemonClient } from '../client.ts';
import { defineCommand, type ParsedArgs } from '../command.ts';
import type { CliContext } from '../context.ts';
import { draftJsonOf, type Entry, Import, type Imported, type ImportSource } from '../memory/import.ts';
import { readLines } from '../memory/read-lines.ts';
import { readMarkdown } from '../memory/read-markdown.ts';
import { createProgress } from '../progress.ts';
import { resolveProjectRoot } from '../project-root.ts';
import { inProject } from '../tools/in-project.ts';
import { PROJECT, pages } from './memory.ts';

/** Stores memories from elsewhere. What is there already is left as it is, so an import that was interrupted can be repeated. */
export const memoryImport = defineCommand<Imported>({
  name: ['memory', 'import'],
  summary: 'Import memories from JSON lines, Markdown notes or another project. Run it again to resume.',
  parameters: [
    {
      syntax: '[source]',
      help: 'a file of JSON lines, as `ctxd memory export` writes it (- for standard input), a .md file, or a folder of them, such as the memory of Claude Code',
    },
  ],
  options: [{ syntax: '--from-project <dir>', help: 'the memories of another registered project, instead' }, PROJECT],
  async run(context, args) {
    const progress = createProgress(context.stderr);
    try {
      return await inProject(context, args, async (client, root) => {
        const from = await sourceOf(context, args, client, root);
        return new Import({ context, client, root, progress }, from).run();
      });
    } finally {
      progress.end();
    }
  },
  view: ({ stored, unchanged, refused }) => ({
    kind: 'lines',
    lines: [`${stored} stored, ${unchanged} were there already, ${refused} were left out`],
  }),
  exitCode: ({ refused }) => (refused === 0 ? 0 : 1),
});

async function sourceOf(
  context: CliContext,
  args: ParsedArgs,
  client: DaemonClient,
  root: string,
): Promise<ImportSource> {
  const [source, other] = [args.word(0), args.text('fromProject')];
  if ((source === undefined) === (other === undefined))
    throw new ContextdError('ARGS_INVALID', 'name one source: a file, a folder or --from-project', {
      remedy: 'See `ctxd memory import --help`.',
    });
  if (other !== undefined) {
    const from = await resolveProjectRoot(context.cwd, other, context.env.home, context.paths);
    if (from !== root) return { entries: memoriesOf(client, from), readBytes: () => 0, totalBytes: 0 };
    throw new ContextdError('ARGS_INVALID', `${from} is the project itself`, { remedy: 'Name another project.' });
  }
  if (source === undefined || source === '-') return readLines('-', 'stdin', 0, context);
  const path = resolve(context.cwd, source);
  const { isFolder, size } = await lookAt(path);
  if (isFolder || path.endsWith('.md')) return readMarkdown(path);
  return readLines(source, basename(path), size, context);
}

/** What the other project has of its own: global memories are found here anyway, and what is set aside stays there. */
async function* memoriesOf(client: DaemonClient, root: string): AsyncGenerator<Entry> {
  const all = { after: '', withContent: true, most: Number.POSITIVE_INFINITY };
  for await (const memory of pages(client, root, all)) {
    if (memory.scope !== 'project' || memory.quarantined || memory.replaced_by !== '') continue;
    yield { place: memory.id, source: `project ${root}`.slice(0, 300), draftJson: draftJsonOf(memory), fault: '' };
  }
}

async function lookAt(path: string): Promise<{ isFolder: boolean; size: number }> {
  try {
    const found = await stat(path);
    return { isFolder: found.isDirectory(), size: found.size };
  } catch (cause) {
    throw new ContextdError('PATH_NOT_FOUND', `cannot read ${path}`, {
      remedy: 'Pass a readable file or folder.',
      cause,
    });
  }
}
