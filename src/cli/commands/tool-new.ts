import { relative, resolve } from 'node:path';
import { faultOfName } from '../../catalog/reserved-names.ts';
import { TOOL_NAME_PATTERN } from '../../catalog/tool-name.ts';
import { ContextdError } from '../../core/errors.ts';
import { shellWord } from '../../core/shell-quote.ts';
import { defineCommand, type ParsedArgs } from '../command.ts';
import type { CliContext } from '../context.ts';
import { createTool, LANGUAGES, type Language } from '../new-tool/create-tool.ts';

/** Needs no daemon. */
export const toolNew = defineCommand({
  name: ['tool', 'new'],
  summary: 'Create a tool of your own: a program that works, its documents and a test that passes.',
  parameters: [{ syntax: '<name>', help: 'lower-case letters, digits and _' }],
  options: [
    { syntax: '--lang <language>', help: `${LANGUAGES.join(', ')} (default: ts)` },
    { syntax: '--dir <dir>', help: "the tool's own folder, new or empty (default: a folder of its name, here)" },
  ],
  async run(context, args) {
    const name = await newName(args.requiredWord(0), context);
    const language = languageOf(args);
    const dir = resolve(context.cwd, args.text('dir') ?? name);
    const files = await createTool({ name, language, dir }, context.paths.sdkSourceDir);
    return { name, language, dir, files, next: nextCommands(name, language, relative(context.cwd, dir) || '.') };
  },
  view: ({ name, dir, files, next }) => ({
    kind: 'lines',
    lines: [`${name} is in ${dir} (${files.length} files). Next:`, ...next.map((command) => `  ${command}`)],
  }),
});

/** Throws ARGS_INVALID for a name that no tool can have, and CONFLICT for one that no project could install. */
async function newName(name: string, { env }: CliContext): Promise<string> {
  if (!TOOL_NAME_PATTERN.test(name)) {
    throw new ContextdError('ARGS_INVALID', `${JSON.stringify(name)} cannot be the name of a tool`, {
      remedy: 'Use lower-case letters, digits and "_", and a letter first, such as weather or city_weather.',
    });
  }
  const fault = await faultOfName(name, env.path);
  if (fault === null) return name;
  throw new ContextdError('CONFLICT', `${name} ${fault}`, { remedy: 'Choose another name.' });
}

function languageOf(args: ParsedArgs): Language {
  const given = args.text('lang') ?? 'ts';
  const language = LANGUAGES.find((one) => one === given);
  if (language !== undefined) return language;
  throw new ContextdError('ARGS_INVALID', `there is no template for the language ${JSON.stringify(given)}`, {
    remedy: `Use --lang ${LANGUAGES.join(', --lang ')}. Another language can start from sh.`,
  });
}

/** What the author does next, in the directory of the command. */
function nextCommands(name: string, language: Language, shown: string): string[] {
  const dir = shellWord(shown);
  return [
    ...(language === 'go' ? [`(cd ${dir} && CGO_ENABLED=0 go build -o ${name} .)`] : []),
    `ctxd tool test ${dir}`,
    `ctxd tool verify ${dir}`,
    `ctxd tool install ${asSource(shown)}`,
  ];
}

/** A path that `ctxd tool install` takes for one. */
function asSource(path: string): string {
  return shellWord(/^\.{0,2}(?:\/|$)/.test(path) ? path : `./${path}`);
}
