import { ContextdError } from '../../core/errors.ts';
import type { GitleaksPlaces } from '../../scrub/gitleaks/binary.ts';
import { howToInstall } from '../../scrub/gitleaks/pinned.ts';
import { defineCommand, type Given } from '../command.ts';
import type { CliContext } from '../context.ts';
import { printable, renderError, write } from '../render.ts';
import type { ExactScrub } from '../scrub/exact-scrubber.ts';
import { decodeText, readChunks } from '../scrub/input-text.ts';
import { type ScrubLine, scrubJsonLines } from '../scrub/json-lines.ts';
import type { ScrubbedText, TextScrubber } from '../scrub/text-scrubber.ts';
import { scrubInWindows } from '../scrub/windows.ts';

/** What is printed as one value with --json, and what remains to be said otherwise: the text has been printed. */
interface Scrubbed extends ScrubbedText {
  failedLines: number;
}

/** Lines whose fault is told one by one; the rest are counted. */
const FAULTS_TOLD = 20;

/** The engine of the daemon for pipelines, in this process. Fails closed: what cannot be searched is not printed. */
export const scrub = defineCommand<Scrubbed>({
  name: ['scrub'],
  summary: 'mask the secrets of a text: standard input or a file in, the scrubbed text out; needs no daemon',
  parameters: [{ syntax: '[file]', help: 'the file (default, and "-": standard input)' }],
  options: [
    {
      syntax: '--jsonl',
      help: 'lines {"id","text","path"?} in, {"id","text","findings":[{"rule","start","end"}]} out',
    },
    { syntax: '--exact', help: "gitleaks' own configuration alone: no other rules, no vault, no guard" },
    { syntax: '--no-vault', help: 'each line of --jsonl is a session of its own' },
  ],
  async run(context, given) {
    if (given.flag('json') && given.flag('jsonl')) {
      throw new ContextdError('ARGS_INVALID', '--json prints one value and --jsonl one for each line', {
        remedy: 'Leave one of them out.',
      });
    }
    if (given.flag('jsonl')) return scrubLines(context, given);
    return given.flag('exact') ? scrubExactly(context, given) : scrubText(context, given);
  },
  view: () => ({ kind: 'raw', text: '' }),
  bare: ({ text, findings }) => JSON.stringify({ text, findings: findings.map(bareFinding) }),
  exitCode: ({ failedLines }) => (failedLines > 0 ? 1 : 0),
});

async function scrubLines(context: CliContext, given: Given): Promise<Scrubbed> {
  const scrubLine: ScrubLine = given.flag('exact')
    ? await exactScrub(context)
    : hardenedLine(await textScrubber(context, given));
  let failedLines = 0;
  for await (const result of scrubJsonLines(readChunks(given.word(0), context), scrubLine)) {
    if ('line' in result) await write(context.stdout, `${result.line}\n`);
    else if (++failedLines <= FAULTS_TOLD)
      await write(context.stderr, `ctxd: line ${result.number} was left out: ${printable(result.fault)}\n`);
  }
  if (failedLines > FAULTS_TOLD) await write(context.stderr, `ctxd: ${failedLines} lines were left out in all\n`);
  return { text: '', findings: [], failedLines };
}

/** A path excuses nothing here: whoever writes the line could name one that does. */
function hardenedLine(scrubber: TextScrubber): ScrubLine {
  return (text) => scrubber.scrub(text);
}

async function scrubText(context: CliContext, given: Given): Promise<Scrubbed> {
  const scrubber = await textScrubber(context, given);
  const whole: string[] = [];
  const findings: ScrubbedText['findings'][number][] = [];
  for await (const part of scrubInWindows(inputText(context, given), scrubber)) {
    if (!given.flag('json')) await write(context.stdout, part.text);
    else {
      whole.push(part.text);
      for (const finding of part.findings) findings.push(finding);
    }
  }
  return { text: whole.join(''), findings, failedLines: 0 };
}

/** As gitleaks judges its standard input: as one text without a path. */
async function scrubExactly(context: CliContext, given: Given): Promise<Scrubbed> {
  const exact = await exactScrub(context);
  const parts: string[] = [];
  for await (const part of inputText(context, given)) parts.push(part);
  const scrubbed = exact(parts.join(''));
  if (!given.flag('json')) await write(context.stdout, scrubbed.text);
  return { ...scrubbed, failedLines: 0 };
}

function inputText(context: CliContext, given: Given): AsyncIterable<string> {
  return decodeText(readChunks(given.word(0), context), () => {
    context.stderr.write('ctxd: bytes of the input that are not UTF-8 became U+FFFD\n');
  });
}

// The engines are loaded only here: the other commands of ctxd do not pay for them.

async function exactScrub(context: CliContext): Promise<ExactScrub> {
  const { createExactScrub } = await import('../scrub/exact-scrubber.ts');
  return createExactScrub(placesOf(context), context.paths.installRoot);
}

async function textScrubber(context: CliContext, given: Given): Promise<TextScrubber> {
  const [{ readRuleSources }, { createTextScrubber }] = await Promise.all([
    import('../../scrub/rule-sources.ts'),
    import('../scrub/text-scrubber.ts'),
  ]);
  const { pack, official } = await readRuleSources(placesOf(context));
  if (official === null && context.stderr.isTTY === true) await write(context.stderr, renderError(missing(context)));
  return createTextScrubber({ pack, official, shareVault: given.flag('vault') });
}

function missing({ paths }: CliContext): ContextdError {
  return new ContextdError(
    'NOT_FOUND',
    "gitleaks' own rules are not on this machine: only those of contextd are used",
    {
      remedy: howToInstall(paths.installRoot),
    },
  );
}

function placesOf({ paths, env }: CliContext): GitleaksPlaces {
  return { gitleaksDir: paths.gitleaksDir, searchPath: env.path, home: env.home };
}

function bareFinding({ rule, start, end }: ScrubbedText['findings'][number]) {
  return { rule, start, end };
}
