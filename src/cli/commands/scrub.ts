import { ContextdError } from '../../core/errors.ts';
import type { RulesReview__Output as RulesReview } from '../../protocol/generated/management.ts';
import { withClient } from '../client.ts';
import { defineCommand, type ParsedArgs } from '../command.ts';
import type { CliContext } from '../context.ts';
import { confirm, decodeText, readChunks } from '../input.ts';
import { projectAt } from '../project-root.ts';
import { printable, write } from '../render.ts';
import type { ExactScrub } from '../scrub/exact-scrubber.ts';
import { type ScrubLine, scrubJsonLines } from '../scrub/json-lines.ts';
import type { ScrubbedText, TextScrubber } from '../scrub/text-scrubber.ts';
import { scrubInWindows } from '../scrub/windows.ts';

/** The value that --json prints. Otherwise the text has been printed already. */
interface Scrubbed extends ScrubbedText {
  failedLines: number;
}

/** Faulty lines that are reported one by one. The number of all of them is printed at the end. */
const FAULTS_SHOWN = 20;

/** Runs the daemon's engine in this process, for pipelines. Text that cannot be searched is not printed. */
const scrub = defineCommand<Scrubbed>({
  name: ['scrub'],
  summary: 'Mask the secrets in a text from standard input or a file. Needs no daemon.',
  parameters: [{ syntax: '[file]', help: 'the file (default and "-": standard input)' }],
  options: [
    {
      syntax: '--jsonl',
      help: 'reads lines {"id","text","path"?}, writes {"id","text","findings":[{"rule","start","end"}]}',
    },
    { syntax: '--exact', help: "use only gitleaks' own configuration: no other rules, no vault, no guard" },
    { syntax: '--no-vault', help: 'treat each line of --jsonl as a separate session' },
  ],
  async run(context, args) {
    if (args.flag('json') && args.flag('jsonl')) {
      throw new ContextdError('ARGS_INVALID', '--json prints one value and --jsonl one for each line', {
        remedy: 'Leave one of them out.',
      });
    }
    if (args.flag('jsonl')) return scrubLines(context, args);
    return args.flag('exact') ? scrubExactly(context, args) : scrubText(context, args);
  },
  view: () => ({ kind: 'raw', text: '' }),
  bare: ({ text, findings }) => JSON.stringify({ text, findings: findings.map(bareFinding) }),
  exitCode: ({ failedLines }) => (failedLines > 0 ? 1 : 0),
});

async function scrubLines(context: CliContext, args: ParsedArgs): Promise<Scrubbed> {
  const scrubLine: ScrubLine = args.flag('exact') ? await exactScrub() : hardenedLine(await textScrubber(args));
  let failedLines = 0;
  for await (const result of scrubJsonLines(readChunks(args.word(0), context), scrubLine)) {
    if ('line' in result) await write(context.stdout, `${result.line}\n`);
    else if (++failedLines <= FAULTS_SHOWN)
      await write(context.stderr, `ctxd: line ${result.number} was left out: ${printable(result.fault)}\n`);
  }
  if (failedLines > FAULTS_SHOWN) await write(context.stderr, `ctxd: ${failedLines} lines were left out in all\n`);
  return { text: '', findings: [], failedLines };
}

/** The path is ignored: the author of a line could choose a path that the rules allow. */
function hardenedLine(scrubber: TextScrubber): ScrubLine {
  return (text) => scrubber.scrub(text);
}

async function scrubText(context: CliContext, args: ParsedArgs): Promise<Scrubbed> {
  const scrubber = await textScrubber(args);
  const whole: string[] = [];
  const findings: ScrubbedText['findings'][number][] = [];
  for await (const part of scrubInWindows(inputText(context, args), scrubber)) {
    if (!args.flag('json')) await write(context.stdout, part.text);
    else {
      whole.push(part.text);
      for (const finding of part.findings) findings.push(finding);
    }
  }
  return { text: whole.join(''), findings, failedLines: 0 };
}

/** Like gitleaks with standard input: one text without a path. */
async function scrubExactly(context: CliContext, args: ParsedArgs): Promise<Scrubbed> {
  const exact = await exactScrub();
  const parts: string[] = [];
  for await (const part of inputText(context, args)) parts.push(part);
  const scrubbed = exact(parts.join(''));
  if (!args.flag('json')) await write(context.stdout, scrubbed.text);
  return { ...scrubbed, failedLines: 0 };
}

function inputText(context: CliContext, args: ParsedArgs): AsyncIterable<string> {
  return decodeText(readChunks(args.word(0), context), () => {
    context.stderr.write('ctxd: bytes of the input that are not UTF-8 became U+FFFD\n');
  });
}

// The engines are loaded only here, so that other commands start faster.

async function exactScrub(): Promise<ExactScrub> {
  const { createExactScrub } = await import('../scrub/exact-scrubber.ts');
  return createExactScrub();
}

async function textScrubber(args: ParsedArgs): Promise<TextScrubber> {
  const [{ readRuleSources }, { createTextScrubber }] = await Promise.all([
    import('../../scrub/rule-sources.ts'),
    import('../scrub/text-scrubber.ts'),
  ]);
  return createTextScrubber({ ...readRuleSources(), shareVault: args.flag('vault') });
}

function bareFinding({ rule, start, end }: ScrubbedText['findings'][number]) {
  return { rule, start, end };
}

/** Without approval a `.gitleaks.toml` only adds rules. An approval holds for exactly the reviewed bytes. */
const scrubApprove = defineCommand({
  name: ['scrub', 'approve'],
  summary: "Show what a project's .gitleaks.toml would allow, and allow it until the file changes.",
  parameters: [{ syntax: '[path]', help: 'the project directory (default: the current project)' }],
  options: [
    { syntax: '--yes', help: 'do not ask' },
    { syntax: '--revoke', help: 'withdraw an approval' },
  ],
  async run(context, args) {
    const root = await projectAt(context, args.word(0));
    return withClient(context.paths, async (client) => {
      if (args.flag('revoke')) return client.revokeRules({ root });
      const review = await client.reviewRules({ root });
      checkUsable(review);
      if (review.approved) return review;
      if (!args.flag('yes')) await ask(context, review);
      return client.approveRules({ root, sha256: review.sha256 });
    });
  },
  view: (review) => ({ kind: 'lines', lines: [...describe(review), verdict(review)] }),
});

export const scrubCommands = [scrub, scrubApprove];

function checkUsable({ path, sha256, fault }: RulesReview): void {
  if (sha256 === '' && fault === '') throw new ContextdError('PATH_NOT_FOUND', `there is no ${path}`);
  if (fault !== '')
    throw new ContextdError('SCHEMA_INVALID', fault, { remedy: `Fix ${path}. Until then it is not used.` });
}

function describe({ path, sha256, rules, allowances }: RulesReview): string[] {
  if (sha256 === '') return [`${path} does not exist`];
  const more = allowances.length === 0 ? ['Nothing in it needs an approval.'] : allowances.map((one) => `  ${one}`);
  return [`${path} (sha256 ${sha256}) adds ${rules} rules. An approval also allows:`, ...more];
}

function verdict({ approved }: RulesReview): string {
  return approved ? 'Approved, until the file changes.' : 'Not approved. It only adds rules.';
}

async function ask(context: CliContext, review: RulesReview): Promise<void> {
  const refused = new ContextdError('CANCELLED', 'nothing was approved', {
    remedy: 'Answer yes, or pass --yes if nobody can be asked.',
  });
  await confirm(context, describe(review), 'Allow this?', refused);
}
