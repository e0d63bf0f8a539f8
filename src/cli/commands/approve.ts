import { setTimeout as delay } from 'node:timers/promises';
import { ContextdError } from '../../core/errors.ts';
import type { WaitingApproval__Output as WaitingApproval } from '../../protocol/generated/management.ts';
import { describeAnswer, readAnswer } from '../approvals/answer.ts';
import { describeQuestion } from '../approvals/describe.ts';
import { desktopNotify } from '../approvals/notify.ts';
import { Prompt } from '../approvals/prompt.ts';
import { quotedStart } from '../approvals/quoted-text.ts';
import { type DaemonClient, withClient } from '../client.ts';
import { defineCommand, type ParsedArgs } from '../command.ts';
import type { CliContext } from '../context.ts';
import { projectAt } from '../project-root.ts';
import { printable, write } from '../render.ts';

const WATCH_EVERY_MS = 500;
const NOTICE_MAX_CHARS = 160;

type Client = Pick<DaemonClient, 'listApprovals' | 'answerApproval'>;

/** What the command returns: the questions that wait, or a line about the answer. */
interface Approved {
  items: readonly WaitingApproval[];
  lines: readonly string[];
}

export const approve = defineCommand<Approved>({
  name: ['approve'],
  summary: 'Answer calls that wait for a person: once, for a time, always or never. Only a person should run this.',
  parameters: [
    { syntax: '[id]', help: 'the question (ask_…), or a rule (rule_…) before a call asks (default: all that waits)' },
    { syntax: '[answer]', help: 'once, a time such as 1h, always or never (default: asks at a terminal)' },
  ],
  options: [
    {
      syntax: '--watch',
      help: 'stay, show what comes, and send a desktop notification where there is a program for it',
    },
    { syntax: '--project <dir>', help: 'the project in which a rule is answered (default: the current project)' },
  ],
  run: (context, args) => withClient(context.paths, (client) => run(context, args, client)),
  view: ({ items, lines }) => ({
    kind: 'lines',
    lines: [...items.flatMap((item) => describeQuestion(item, Date.now())), ...lines],
  }),
});

async function run(context: CliContext, args: ParsedArgs, client: Client): Promise<Approved> {
  const [id, typed] = [args.word(0), args.word(1)];
  if (args.flag('watch')) {
    if (id !== undefined || args.flag('json'))
      throw new ContextdError('ARGS_INVALID', '--watch takes no id and no --json', { remedy: 'Leave them out.' });
    if (isAtTerminal(context)) await withPrompt(context, (prompt) => watch(context, client, prompt));
    else await watch(context, client, null);
    return { items: [], lines: [] };
  }
  if (id !== undefined && typed !== undefined) {
    const root = id.startsWith('rule_') ? await projectAt(context, args.text('project')) : '';
    const line = describeAnswer(await client.answerApproval(readAnswer(id, typed, { root })), typed);
    return { items: [], lines: [line] };
  }
  const items = await waiting(client, id ?? '');
  if (items.length === 0) return { items, lines: [id === undefined ? 'No call waits.' : `No call waits for ${id}.`] };
  if (!isAtTerminal(context) || args.flag('json'))
    return { items, lines: ['Answer with `ctxd approve ID once`, or with a time such as 1h, always or never.'] };
  await withPrompt(context, async (prompt) => {
    for (const item of items) await ask(context, client, item, prompt);
  });
  return { items: [], lines: [] };
}

async function withPrompt(context: CliContext, use: (prompt: Prompt) => Promise<void>): Promise<void> {
  const prompt = new Prompt(context);
  try {
    await use(prompt);
  } finally {
    prompt.close();
  }
}

/** The questions with all of their text. */
async function waiting(client: Client, id: string): Promise<WaitingApproval[]> {
  const { items } = await client.listApprovals({ root: '', id });
  const whole = await Promise.all(
    items.map(async (item) => {
      if (item.text.length === item.text_chars) return [item];
      return (await client.listApprovals({ root: '', id: item.id })).items;
    }),
  );
  return whole.flat();
}

/** Shows new questions as they come, until interrupted. At a terminal each is asked. */
async function watch(context: CliContext, client: Client, prompt: Prompt | null): Promise<void> {
  const notify = desktopNotify(context.env.path);
  const seen = new Set<string>();
  await write(context.stderr, 'Waiting for calls that a rule asks about. Ctrl-C ends this.\n');
  const end = prompt === null ? context.signal : AbortSignal.any([context.signal, prompt.closed]);
  while (!end.aborted) {
    const { items } = await client.listApprovals({ root: '', id: '' });
    for (const { id } of items.filter((item) => !seen.has(item.id))) {
      seen.add(id);
      const [item] = await waiting(client, id);
      if (item === undefined) continue;
      notify?.(`${item.id}: may ${item.tool} run?`, quotedStart(item.text, NOTICE_MAX_CHARS));
      if (prompt === null) await write(context.stdout, block(describeQuestion(item, Date.now())));
      else await ask(context, client, item, prompt);
    }
    await delay(WATCH_EVERY_MS, undefined, { signal: end }).catch(() => {});
  }
}

/** Asks at the terminal until the answer can be read. Returns if the question ends meanwhile. */
async function ask(context: CliContext, client: Client, item: WaitingApproval, prompt: Prompt): Promise<void> {
  await write(context.stdout, block(describeQuestion(item, Date.now(), context.stdout.columns)));
  const gone = new AbortController();
  const looking = lookForEnd(client, item.id, gone, context.signal);
  try {
    for (;;) {
      const typed = await prompt.ask(QUESTION, gone.signal);
      if (typed === '' || (await isAnswered(context, client, item, typed))) return;
    }
  } catch (thrown) {
    if (!gone.signal.aborted || context.signal.aborted || prompt.closed.aborted) throw thrown;
    await write(context.stderr, `\n${item.id} waits no more.\n`);
  } finally {
    gone.abort();
    await looking;
  }
}

const QUESTION = 'once, a time such as 1h, always, never; Enter decides nothing: ';

/** False if the text is no answer, which the person sees. */
async function isAnswered(
  context: CliContext,
  client: Client,
  { id, calls }: WaitingApproval,
  typed: string,
): Promise<boolean> {
  try {
    const line = describeAnswer(await client.answerApproval(readAnswer(id, typed, { calls })), typed);
    await write(context.stdout, `${printable(line)}\n`);
    return true;
  } catch (thrown) {
    const { code, message } = ContextdError.from(thrown);
    await write(context.stderr, `${printable(message)}\n`);
    return code !== 'ARGS_INVALID';
  }
}

/** Aborts `gone` once nobody has to answer the question any more. */
async function lookForEnd(client: Client, id: string, gone: AbortController, end: AbortSignal): Promise<void> {
  const signal = AbortSignal.any([gone.signal, end]);
  while (!signal.aborted) {
    await delay(WATCH_EVERY_MS, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    const { items } = await client.listApprovals({ root: '', id }).catch(() => ({ items: [] }));
    if (items.length === 0) gone.abort();
  }
}

function block(lines: readonly string[]): string {
  return `${lines.map(printable).join('\n')}\n`;
}

function isAtTerminal({ stdin, stdout }: CliContext): boolean {
  return stdin.isTTY === true && stdout.isTTY === true;
}
