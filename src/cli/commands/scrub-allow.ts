import { userInfo } from 'node:os';
import { ContextdError } from '../../core/errors.ts';
import type {
  AllowedValue__Output as AllowedValue,
  AllowedValues__Output as AllowedValues,
  RevealedSecret__Output as RevealedSecret,
  SecretRequest__Output as SecretRequest,
} from '../../protocol/generated/management.ts';
import { withClient } from '../client.ts';
import { defineCommand, type ParsedArgs } from '../command.ts';
import type { CliContext } from '../context.ts';
import { confirm, readInput } from '../input.ts';
import { projectAt } from '../project-root.ts';
import type { View } from '../render.ts';

const PROJECT = { syntax: '--project <dir>', help: 'the project directory (default: the current project)' };
const SESSION = {
  syntax: '--session <id>',
  help: "the session id (default: from the client's environment, otherwise the only session that has this token)",
};
const ID_SHOWN_CHARS = 12;
const VALUE_MAX_BYTES = 256 * 1024;

/** The only command that shows a value. Something that is no person has no terminal, and the clients refuse it to agents. */
const scrubReveal = defineCommand<RevealedSecret>({
  name: ['scrub', 'reveal'],
  summary: 'Show a masked value, its rule and where it was found. Only a person should run this.',
  parameters: [{ syntax: '<token>', help: 'the secret: 3 or [SECRET_3]' }],
  options: [{ syntax: '--yes', help: 'also without a terminal' }, SESSION, PROJECT],
  async run(context, args) {
    const request = await secretOf(context, args, args.requiredWord(0));
    if (!args.flag('yes') && !isAtTerminal(context))
      throw new ContextdError('CANCELLED', 'a value is shown at a terminal only', {
        remedy: 'Run it at a terminal, or pass --yes.',
      });
    return withClient(context.paths, (client) => client.revealSecret(request));
  },
  view: (secret) => ({ kind: 'lines', lines: [...describe(secret), howToAllow(secret)] }),
});

/** Nothing of the value is stored, only its HMAC with a key of the installation. */
const scrubAllow = defineCommand<AllowedValues>({
  name: ['scrub', 'allow'],
  summary: 'Record that a masked value is no secret, so that later answers show it. Only a person should run this.',
  parameters: [{ syntax: '[token]', help: 'the secret: 3 or [SECRET_3] (default: a value from standard input)' }],
  options: [
    { syntax: '--everywhere', help: 'in every project (default: in this project)' },
    { syntax: '--yes', help: 'do not ask; without a terminal nothing is allowed without it' },
    SESSION,
    PROJECT,
  ],
  async run(context, args) {
    const token = args.word(0);
    const secret = await secretOf(context, args, token);
    const value = token === undefined ? await valueFrom(context) : '';
    const request = { secret, value, everywhere: args.flag('everywhere'), by: userInfo().username };
    return withClient(context.paths, async (client) => {
      const known = token === undefined || args.flag('yes') ? null : await client.revealSecret(secret);
      if (!args.flag('yes')) await agree(context, known, request.everywhere ? 'every project' : secret.root);
      // What the person saw and agreed to, whatever became of the sessions meanwhile.
      return client.allowValue(
        known === null ? request : { ...request, secret: { ...secret, session: known.session } },
      );
    });
  },
  view: ({ changed, session }) => ({
    kind: 'lines',
    lines: changed.flatMap((value) => [
      ...(session === '' ? [] : [`Session: ${session}`]),
      `Allowed in ${scopeOf(value)}: later answers show the value. What is stored stays masked; run a command again to see it.`,
      `Undo: ctxd scrub allow remove ${value.id.slice(0, ID_SHOWN_CHARS)}`,
    ]),
  }),
});

const scrubAllowList = defineCommand<readonly AllowedValue[]>({
  name: ['scrub', 'allow', 'list'],
  summary: 'List the values that are allowed in a project, by id. The values themselves are not stored.',
  options: [PROJECT],
  async run(context, args) {
    const root = await projectAt(context, args.text('project'));
    return withClient(context.paths, async (client) => (await client.listAllowedValues({ root })).values);
  },
  view: viewList,
});

const scrubAllowRemove = defineCommand<AllowedValues>({
  name: ['scrub', 'allow', 'remove'],
  summary: 'Mask a value again that was allowed.',
  parameters: [{ syntax: '<id>', help: 'the id from `ctxd scrub allow list`, or its beginning' }],
  options: [{ syntax: '--yes', help: 'no effect: nothing is asked, because this shows less' }, PROJECT],
  async run(context, args) {
    const root = await projectAt(context, args.text('project'));
    return withClient(context.paths, (client) => client.disallowValue({ root, id: args.requiredWord(0) }));
  },
  view: ({ changed }) => ({
    kind: 'lines',
    lines: changed.map((value) => `${value.id.slice(0, ID_SHOWN_CHARS)} is masked again in ${scopeOf(value)}.`),
  }),
});

export const scrubAllowCommands = [scrubReveal, scrubAllow, scrubAllowList, scrubAllowRemove];

/** `token`: undefined if only the project is meant. A shell may take the brackets for a pattern, so the number will do. */
async function secretOf(context: CliContext, args: ParsedArgs, token: string | undefined): Promise<SecretRequest> {
  const root = await projectAt(context, args.text('project'));
  const session = args.text('session') ?? context.env.sessionId ?? '';
  const [, digits] = /^\[?(?:SECRET_)?(\d+)\]?$/.exec(token ?? '') ?? [];
  return { root, session, token: digits === undefined ? (token ?? '') : `[SECRET_${digits}]` };
}

/** The line end of `echo` is not part of the value. */
async function valueFrom(context: CliContext): Promise<string> {
  if (context.stdin.isTTY === true)
    throw new ContextdError('ARGS_INVALID', 'no token is named', {
      remedy: 'Name one, such as `ctxd scrub allow 3`, or pass the value on standard input.',
    });
  const value = (await readInput('-', context, VALUE_MAX_BYTES)).toString('utf8').replace(/\r?\n$/, '');
  if (value !== '') return value;
  throw new ContextdError('ARGS_INVALID', 'standard input is empty', {
    remedy: 'Pass the value on it, or name a token.',
  });
}

async function agree(context: CliContext, known: RevealedSecret | null, where: string): Promise<void> {
  const refusal = new ContextdError('CANCELLED', 'nothing was allowed', {
    remedy: 'A person answers yes at a terminal, or passes --yes.',
  });
  if (!isAtTerminal(context)) throw refusal;
  const lines = known === null ? ['A value from standard input'] : describe(known);
  await confirm(context, lines, `Show this value to agents in ${where}?`, refusal);
}

function isAtTerminal({ stdin, stdout }: CliContext): boolean {
  return stdin.isTTY === true && stdout.isTTY === true;
}

function describe({ summary, session, request_id: request, input, value }: RevealedSecret): string[] {
  const { token, rule, kind, tool, first_seen_ms: firstSeen } = summary ?? NO_SUMMARY;
  const call = tool === '' ? 'not in an answer of a tool' : `${tool} ${input}`;
  return [
    `${token}: ${kind}, found by ${rule}`,
    `Session: ${session}`,
    `First in: ${call}`,
    ...(request === '' ? [] : [`Request: ${request}, ${new Date(firstSeen).toISOString()}`]),
    `Length: ${value.length} characters`,
    `Value: ${value}`,
  ];
}

function howToAllow({ summary, session }: RevealedSecret): string {
  return `If it is no secret: ctxd scrub allow ${/\d+/.exec(summary?.token ?? '')?.[0] ?? ''} --session ${session}`;
}

const NO_SUMMARY = { token: '', rule: '', kind: '', tool: '', first_seen_ms: 0 };

function scopeOf({ root }: AllowedValue): string {
  return root === '' ? 'every project' : root;
}

function viewList(values: readonly AllowedValue[]): View {
  return {
    kind: 'table',
    columns: ['ID', 'WHERE', 'FOUND BY', 'ALLOWED', 'BY'],
    rows: values.map((value) => [
      value.id.slice(0, ID_SHOWN_CHARS),
      scopeOf(value),
      value.rule === '' ? '(given as a value)' : value.rule,
      new Date(value.allowed_ms).toISOString(),
      value.by,
    ]),
    empty: 'No value is allowed here: ctxd scrub allow 3',
  };
}
