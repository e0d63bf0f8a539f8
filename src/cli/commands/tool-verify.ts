import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { TOOL_NAME_PATTERN } from '../../catalog/tool-name.ts';
import type { ToolCheck } from '../../catalog/verify-tool/check.ts';
import { verifyDirectory } from '../../catalog/verify-tool/verify-directory.ts';
import { type ToolReport, verifyTogether } from '../../catalog/verify-tool/verify-tool.ts';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { loadCounter } from '../../tokens/counter.ts';
import { defineCommand, type ParsedArgs } from '../command.ts';
import type { CliContext } from '../context.ts';
import { findProjectRoot } from '../project-root.ts';
import type { Check } from '../render.ts';

interface Verified {
  passed: boolean;
  tools: readonly (ToolReport & { isCore: boolean })[];
  /** The check of all tools together; null for a single tool, which has its own limit. */
  together: ToolCheck | null;
}

/** Needs no daemon. The same rules apply to a tool that is being written and to one that will be installed. */
export const toolVerify = defineCommand<Verified>({
  name: ['tool', 'verify'],
  summary: 'Check tools against the rules: form and cost of documents, schema, manifest and files.',
  parameters: [
    { syntax: '[tools...]', help: 'names or directories (default: those of contextd and of the current project)' },
  ],
  async run(context, args) {
    const dirs = await directoriesOf(context, args);
    const counter = loadCounter();
    const own = await realOrGiven(coreTools(context));
    const tools: (ToolReport & { isCore: boolean })[] = [];
    for (const dir of dirs) {
      const isCore = dirname(dir) === own;
      const { report } = await verifyDirectory(dir, {
        countTokens: (text) => counter.count(text),
        searchPath: isCore ? null : context.env.path,
        proxyBinary: context.paths.proxyBinary,
      });
      tools.push({ ...report, isCore });
    }
    const together = tools.length === 1 ? null : verifyTogether(tools);
    const checks = [...tools.flatMap((tool) => tool.checks), ...(together === null ? [] : [together])];
    return { passed: checks.every((check) => check.passed), tools, together };
  },
  bare: ({ passed, tools, together }) =>
    JSON.stringify({
      passed,
      tools: tools.map(({ schemaTokens, isCore, ...tool }) => ({ ...tool, core: isCore, schema_tokens: schemaTokens })),
      together,
    }),
  view: ({ tools, together }) => ({
    kind: 'checks',
    checks: [
      ...tools.flatMap(({ name, checks }) => checks.map((check) => lineOf(`${name} ${check.rule}`, check))),
      ...(together === null ? [] : [lineOf(together.rule, together)]),
    ],
  }),
  exitCode: ({ passed }) => (passed ? 0 : 1),
});

async function directoriesOf(context: CliContext, args: ParsedArgs): Promise<string[]> {
  const words = args.words();
  if (words.length > 0) return Promise.all(words.map((word) => directoryOf(word, context)));
  const core = await foldersIn(coreTools(context));
  const project = await findProjectRoot(context.cwd);
  if (project === undefined) return core;
  const names = new Set(core.map((dir) => basename(dir)));
  const place = await realOrGiven(join(project, '.claude', 'tools'));
  return [...core, ...(await foldersIn(place)).filter((dir) => !names.has(basename(dir)))];
}

async function foldersIn(place: string): Promise<string[]> {
  const entries = await readdir(place, { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() ? [join(place, entry.name)] : [])).sort();
}

/** A bare name is a core tool, otherwise a tool of the current project, otherwise a directory. */
async function directoryOf(word: string, context: CliContext): Promise<string> {
  const path = resolve(context.cwd, word);
  if (!TOOL_NAME_PATTERN.test(word)) return join(await realOrGiven(dirname(path)), basename(path));
  const project = await findProjectRoot(context.cwd);
  const places = [
    coreTools(context),
    ...(project === undefined ? [] : [join(project, '.claude', 'tools')]),
    context.cwd,
  ];
  for (const place of places) if (await exists(join(place, word))) return join(await realOrGiven(place), word);
  throw new ContextdError('TOOL_NOT_FOUND', `there is no tool ${JSON.stringify(word)}`, {
    remedy: `Pass a tool in ${places.join(', ')}, or a directory.`,
    details: { tool: word, places },
  });
}

function coreTools({ paths }: CliContext): string {
  return join(paths.installRoot, 'tools');
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** The parents of a tool may be links; the directory itself may not. */
async function realOrGiven(path: string): Promise<string> {
  return realpath(path).catch((thrown: unknown) => {
    if (isErrno(thrown)) return path;
    throw thrown;
  });
}

function lineOf(name: string, { passed, detail, remedy }: ToolCheck): Check {
  return { name, status: passed ? 'ok' : 'fail', detail, remedy };
}
