import { ContextdError } from '../../core/errors.ts';
import { INPUT_MAX_BYTES } from '../../core/limits.ts';
import type {
  AddedMemory__Output as AddedMemory,
  MemoryEvidence__Output as MemoryEvidence,
  MemoryItem__Output as MemoryItem,
  PendingLesson__Output as PendingLesson,
} from '../../protocol/generated/management.ts';
import type { DaemonClient } from '../client.ts';
import { defineCommand, type ParsedArgs } from '../command.ts';
import { confirm, readInput } from '../input.ts';
import { type View, write } from '../render.ts';
import { inProject } from '../tools/in-project.ts';
import { lessonsTable } from './memory-learn.ts';

export const PROJECT = { syntax: '--project <dir>', help: 'the project directory (default: the current project)' };
const PAGE = 500;
const LIST_DEFAULT = 50;
const LIST_MAX = 10_000;

/** The memories of ids, whole. */
const memoryGet = defineCommand<readonly MemoryItem[]>({
  name: ['memory', 'get'],
  summary: 'Show memories in full.',
  parameters: [{ syntax: '<ids...>', help: 'their ids' }],
  options: [PROJECT],
  run: (context, args) =>
    inProject(context, args, async (client, root) => (await client.getMemories({ root, ids: args.words() })).memories),
  view: (memories) => ({ kind: 'stack', views: memories.map(wholeView) }),
});

/** Keeps a lesson that a person wrote. */
const memoryAdd = defineCommand<AddedMemory>({
  name: ['memory', 'add'],
  summary: 'Keep a lesson for later work in the project. Secrets in it are masked.',
  parameters: [{ syntax: '<title>', help: 'the lesson in a few words' }],
  options: [
    { syntax: '--content <text>', help: 'what to do and why; @file reads a file, - standard input' },
    { syntax: '--description <text>', help: 'when to use it, and when not' },
    { syntax: '--outcome <outcome>', help: 'success, failure or mixed (default: success)' },
    { syntax: '--task <text>', help: 'the task that taught it' },
    { syntax: '--tags <tags>', help: 'with commas between them' },
    { syntax: '--replaces <ids>', help: 'outdated memories that it takes the place of, with commas between them' },
    PROJECT,
  ],
  async run(context, args) {
    const content = args.text('content');
    const draft = {
      title: args.requiredWord(0),
      content: content === undefined ? '' : (await readInput(content, context, INPUT_MAX_BYTES)).toString(),
      description: args.text('description') ?? '',
      outcome: args.text('outcome') ?? 'success',
      task: args.text('task') ?? '',
      tags: tagsOption(args),
      replaces: listOption(args, 'replaces'),
    };
    return inProject(context, args, async (client, root) => {
      const { results } = await client.addMemories({ root, drafts_json: [JSON.stringify(draft)], source: '' });
      const [added] = results;
      if (added === undefined) throw new ContextdError('INTERNAL_ERROR', 'the daemon did not say what it stored');
      if (added.state !== 'refused') return added;
      throw new ContextdError('ARGS_INVALID', added.fault, { remedy: 'See `ctxd memory add --help`.' });
    });
  },
  view: ({ state, id, contradicts }) => ({
    kind: 'lines',
    lines: [`${state} ${id}`, ...(contradicts.length === 0 ? [] : [`It contradicts ${contradicts.join(', ')}.`])],
  }),
});

type Listed =
  | { kind: 'memories'; listed: readonly MemoryItem[] }
  | { kind: 'lessons'; listed: readonly PendingLesson[] };

/** The memories of a project in the order in which they were stored. */
const memoryList = defineCommand<Listed>({
  name: ['memory', 'list'],
  summary: 'List the memories of the project and the global ones.',
  options: [
    { syntax: '--pending', help: 'what `ctxd memory learn` has not finished, instead' },
    { syntax: '-n, --limit <count>', help: `number of memories (default ${LIST_DEFAULT}, at most ${LIST_MAX})` },
    { syntax: '--after <id>', help: 'only memories behind this one' },
    PROJECT,
  ],
  run: (context, args) =>
    inProject(context, args, async (client, root) => {
      if (args.flag('pending')) return { kind: 'lessons', listed: (await client.listLessons({ root })).lessons };
      const most = args.count('limit', LIST_DEFAULT, LIST_MAX);
      const listed: MemoryItem[] = [];
      for await (const memory of pages(client, root, { after: args.text('after') ?? '', withContent: false, most }))
        listed.push(memory);
      return { kind: 'memories', listed };
    }),
  bare: ({ listed }) => JSON.stringify(listed),
  view: (all) => (all.kind === 'lessons' ? lessonsTable(all.listed) : tableOf(all.listed, 'no memories')),
});

/** Shows the evidence on a memory, and adds to it. */
const memoryFeedback = defineCommand<MemoryEvidence>({
  name: ['memory', 'feedback'],
  summary: 'Show how work went in which a memory was used, or record it.',
  parameters: [
    { syntax: '<id>', help: 'the memory' },
    { syntax: '[outcome]', help: 'success, failure or mixed; without it only show the evidence' },
  ],
  options: [{ syntax: '--note <text>', help: 'why' }, PROJECT],
  run: (context, args) =>
    inProject(context, args, (client, root) =>
      client.rateMemory({
        root,
        id: args.requiredWord(0),
        outcome: args.word(1) ?? '',
        note: args.text('note') ?? '',
      }),
    ),
  view: ({ memory, feedback }) => ({
    kind: 'stack',
    views: [
      ...(memory === null ? [] : [wholeView(memory)]),
      {
        kind: 'table',
        columns: ['TIME', 'OUTCOME', 'CALL', 'NOTE'],
        rows: feedback.map(({ at_ms, outcome, request_id, note }) => [
          new Date(at_ms).toISOString(),
          outcome,
          request_id === '' ? 'a person' : request_id,
          note,
        ]),
        empty: 'no feedback yet',
      },
    ],
  }),
});

/** Lets every project find memories. */
const memoryPromote = changeCommand(
  {
    name: 'promote',
    summary: 'Make memories global: every project finds them.',
    question: 'Show them to every project?',
  },
  (client) => client.promoteMemory,
  ({ id, title }) => `${id} is global: ${title}`,
);

/** Removes memories for good. */
const memoryForget = changeCommand(
  { name: 'forget', summary: 'Remove memories for good.', question: 'Remove them for good?' },
  (client) => client.forgetMemories,
  ({ id, title }) => `forgot ${id}: ${title}`,
);

/** A command that changes memories by their ids after a yes, and prints a line for each. */
function changeCommand(
  { name, summary, question }: { name: string; summary: string; question: string },
  method: (client: DaemonClient) => DaemonClient['forgetMemories'],
  lineOf: (memory: MemoryItem) => string,
) {
  return defineCommand<readonly MemoryItem[]>({
    name: ['memory', name],
    summary,
    parameters: [{ syntax: '<ids...>', help: 'their ids' }],
    options: [{ syntax: '--yes', help: 'do not ask; without a terminal nothing is changed without it' }, PROJECT],
    run: (context, args) =>
      inProject(context, args, async (client, root) => {
        const request = { root, ids: args.words() };
        if (!args.flag('yes')) {
          const { memories } = await client.getMemories(request);
          const refusal = new ContextdError('CANCELLED', `${name}: nothing was changed`, {
            remedy: 'A person answers yes at a terminal, or passes --yes.',
          });
          await confirm(
            context,
            memories.map(({ id, title }) => `${id} ${title}`),
            question,
            refusal,
          );
        }
        return (await method(client)(request)).memories;
      }),
    view: (memories) => ({ kind: 'lines', lines: memories.map(lineOf) }),
  });
}

/** Writes every memory of a project as a JSON line, which `ctxd memory import` reads. */
const memoryExport = defineCommand<null>({
  name: ['memory', 'export'],
  summary: 'Print the memories of the project and the global ones as JSON lines, for `ctxd memory import`.',
  options: [PROJECT],
  async run(context, args) {
    await inProject(context, args, async (client, root) => {
      const all = { after: '', withContent: true, most: Number.POSITIVE_INFINITY };
      for await (const memory of pages(client, root, all)) await write(context.stdout, `${JSON.stringify(memory)}\n`);
    });
    return null;
  },
  bare: () => '',
  view: () => ({ kind: 'raw', text: '' }),
});

export const memoryCommands = [
  memoryGet,
  memoryAdd,
  memoryList,
  memoryFeedback,
  memoryPromote,
  memoryForget,
  memoryExport,
];

/** The tags of `--tags a,b`. */
export function tagsOption(args: ParsedArgs): string[] {
  return listOption(args, 'tags');
}

function listOption(args: ParsedArgs, name: string): string[] {
  return (args.text(name) ?? '').split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]));
}

export function tableOf(memories: readonly MemoryItem[], empty: string): View {
  return {
    kind: 'table',
    columns: ['ID', 'STORED', 'OUTCOME', 'CONFIDENCE', 'USES', 'SCOPE', 'TITLE'],
    rows: memories.map(({ id, created_ms, outcome, confidence, uses, scope, title, quarantined, replaced_by }) => [
      id,
      timeText(created_ms).slice(0, DATE_CHARS),
      outcome,
      confidence.toFixed(2),
      String(uses),
      `${scope}${quarantined ? ', set aside' : ''}${replaced_by === '' ? '' : ', replaced'}`,
      title,
    ]),
    numbers: [3, 4],
    empty,
  };
}

/** Characters of a time that are its date. */
const DATE_CHARS = 10;
/** The last moment that a date can name. */
const DATE_MAX_MS = 8.64e15;

/** Another machine may have written any number. */
function timeText(ms: number): string {
  return Math.abs(ms) <= DATE_MAX_MS ? new Date(ms).toISOString() : 'unknown';
}

function wholeView(memory: MemoryItem): View {
  const pairs: [string, string][] = [
    ['id', memory.id],
    ['title', memory.title],
    ['description', memory.description],
    ['outcome', memory.outcome],
    ['confidence', memory.confidence.toFixed(2)],
    ['tags', memory.tags.join(', ')],
    ['task', memory.task],
    ['scope', memory.quarantined ? `${memory.scope}, set aside because it keeps failing` : memory.scope],
    ['stored by', memory.owner === '' ? memory.origin : `the tool ${memory.owner}`],
    ['imported from', memory.source],
    ['learned from', memory.provenance.join(', ')],
    ['contradicts', memory.contradicts.join(', ')],
    ['replaces', memory.replaces.join(', ')],
    ['replaced by', memory.replaced_by],
    ['uses', String(memory.uses)],
    ['created', timeText(memory.created_ms)],
    ['content', memory.content],
  ];
  return { kind: 'pairs', pairs: pairs.filter(([, value]) => value !== '') };
}

/** Memories in the order in which they were stored, at most `most`. */
export async function* pages(
  client: DaemonClient,
  root: string,
  { after, withContent, most }: { after: string; withContent: boolean; most: number },
): AsyncGenerator<MemoryItem> {
  let after_id = after;
  for (let left = most; left > 0; ) {
    const limit = Math.min(PAGE, left);
    const { memories } = await client.listMemories({ root, after_id, limit, with_content: withContent });
    yield* memories;
    left -= memories.length;
    if (memories.length < limit) return;
    after_id = memories.at(-1)?.id ?? '';
  }
}
