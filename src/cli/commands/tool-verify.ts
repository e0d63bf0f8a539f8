import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { TOOL_NAME_PATTERN } from '../../catalog/tool-name.ts';
import type { ToolCheck } from '../../catalog/verify-tool/check.ts';
import { readToolDirectory } from '../../catalog/verify-tool/read-tool.ts';
import { type ToolReport, verifyTogether, verifyTool } from '../../catalog/verify-tool/verify-tool.ts';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { loadCounter } from '../../tokens/counter.ts';
import { defineCommand, type Given } from '../command.ts';
import type { CliContext } from '../context.ts';
import { findProjectRoot } from '../init/project-root.ts';
import type { Check } from '../render.ts';

interface Verified {
  passed: boolean;
  tools: readonly ToolReport[];
  /** Of all of them together; null for one alone, which has a limit of its own. */
  together: ToolCheck | null;
}

/** Needs no daemon: the same rules hold for a tool that is being written and for one that is to be installed. */
export const toolVerify = defineCommand<Verified>({
  name: ['tool', 'verify'],
  summary: 'hold tools against the rules: form and cost of their documents, schema, manifest, files',
  parameters: [{ syntax: '[tools...]', help: 'names or directories (default: all tools of the installation)' }],
  async run(context, given) {
    const dirs = await directoriesOf(context, given);
    const counter = loadCounter();
    const tools: ToolReport[] = [];
    for (const dir of dirs) {
      const tool = await readToolDirectory(dir, context.paths.proxyBinary);
      tools.push(verifyTool(tool, (text) => counter.count(text)));
    }
    const together = tools.length === 1 ? null : verifyTogether(tools);
    const checks = [...tools.flatMap((tool) => tool.checks), ...(together === null ? [] : [together])];
    return { passed: checks.every((check) => check.passed), tools, together };
  },
  bare: ({ passed, tools, together }) =>
    JSON.stringify({
      passed,
      tools: tools.map(({ schemaTokens, ...tool }) => ({ ...tool, schema_tokens: schemaTokens })),
      together,
    }),
  view: ({ tools, together }) => ({
    kind: 'checks',
    checks: [
      ...tools.flatMap(({ name, checks }) => checks.map((check) => lineOf(`${name} ${check.rule}`, check))),
      ...(together === null ? [] : [lineOf(`${together.rule} (${tools.length})`, together)]),
    ],
  }),
  exitCode: ({ passed }) => (passed ? 0 : 1),
});

async function directoriesOf(context: CliContext, given: Given): Promise<string[]> {
  const words = givenWords(given);
  if (words.length > 0) return Promise.all(words.map((word) => directoryOf(word, context)));
  const folder = coreTools(context);
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() ? [join(folder, entry.name)] : [])).sort();
}

function givenWords(given: Given): string[] {
  const words: string[] = [];
  for (let word = given.word(0); word !== undefined; word = given.word(words.length)) words.push(word);
  return words;
}

/** A bare name is that of a core tool, else of a tool of the project around here, else of a directory. */
async function directoryOf(word: string, context: CliContext): Promise<string> {
  const given = resolve(context.cwd, word);
  if (!TOOL_NAME_PATTERN.test(word)) return join(await realOrGiven(dirname(given)), basename(given));
  const project = await findProjectRoot(context.cwd);
  const places = [
    coreTools(context),
    ...(project === undefined ? [] : [join(project, '.claude', 'tools')]),
    context.cwd,
  ];
  for (const place of places) if (await isThere(join(place, word))) return join(await realOrGiven(place), word);
  throw new ContextdError('TOOL_NOT_FOUND', `there is no tool ${JSON.stringify(word)}`, {
    remedy: `Name one of ${places.join(', ')}, or a directory.`,
    details: { tool: word, places },
  });
}

function coreTools({ paths }: CliContext): string {
  return join(paths.installRoot, 'tools');
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** The way to a tool may lead over links; the directory itself may be none. */
async function realOrGiven(path: string): Promise<string> {
  return realpath(path).catch((thrown: unknown) => {
    if (isErrno(thrown)) return path;
    throw thrown;
  });
}

function lineOf(name: string, { passed, detail, remedy }: ToolCheck): Check {
  return { name, status: passed ? 'ok' : 'fail', detail, remedy };
}
