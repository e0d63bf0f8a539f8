import { readOptionalString } from '../../src/sdk/input.ts';
import type { ExecResult, JsonObject, Tool, ToolContext } from '../../src/sdk/tool.ts';

/** Entries of each kind. */
const ENTRIES_MAX = 200;
const IGNORED_MAX = 1_000;

/**
 * Prints a line for the branch (`b`, as `git status -sb` shows it), each of the last commits (`c`, seconds, id, subject), each file
 * that differs from the last commit (`n`, lines added, lines removed, path), each file or whole directory that git ignores
 * (`i`, path) and each file that is new or differs (`f`, seconds, path), or outside a repository for each file of the last week, the newest first. Line ends in names become \x01.
 * A process costs a millisecond or two, so there are few.
 */
const LOOK = `
{ if git log -z -n 20 --format='c %ct %h %s' 2>/dev/null || git rev-parse --git-dir >/dev/null 2>&1; then
  { git status -z -b -uno --no-renames --porcelain | head -z -n 1 | sed -z 's/^##/b/'
    git diff --numstat --no-renames --relative -z HEAD | head -z -n 2000 | sed -z 's/^/n /'
    git ls-files -o -i --exclude-standard --directory -z | head -z -n ${IGNORED_MAX} | sed -z 's/^/i /'
    { git diff --name-only --relative --diff-filter=d -z HEAD; git ls-files -o --exclude-standard -z; } |
      head -z -n 2000 | xargs -0 -r stat --printf='f %Y %n\\0' --; } 2>/dev/null
else
  timeout 1 find . -xdev -name node_modules -prune -o -type f -mtime -7 -printf 'f %Ts %P\\0' 2>/dev/null |
    sort -z -t' ' -k2,2rn | head -z -n ${ENTRIES_MAX}
fi; } | tr '\\n\\0' '\\001\\n'`;

/** CE-4.1: what an agent that starts has to know. */
export const sessionInit: Tool = {
  name: 'session_init',
  async execute(context, input) {
    const task = readOptionalString(input, 'task');
    const { text } = await context.host.ask('SessionInit', {
      ...(task === undefined ? {} : { task }),
      workspace: await changesIn(context),
    });
    return { data: {}, streams: [{ field: 'text', text: typeof text === 'string' ? text : '' }] };
  },
};

/** Nothing if the sandbox cannot run it: the rest is worth having. */
async function changesIn({ host, workspace }: ToolContext): Promise<JsonObject> {
  const result = await host.exec({ command: LOOK, cwd: workspace, env: {}, stdin: null }).catch(() => null);
  return result === null ? {} : parsed(result);
}

function parsed({ stdout }: ExecResult): JsonObject {
  const entries = stdout.split('\n');
  const found = (form: RegExp): Record<string, string>[] =>
    entries.flatMap((entry) => {
      const groups = form.exec(entry)?.groups;
      return groups === undefined ? [] : [groups];
    });
  const files = found(/^f (?<at>\d+) (?<path>.*)$/s).map(({ at, path = '' }) => ({ at: Number(at), path }));
  return {
    branch: found(/^b (?<name>.*)$/s)[0]?.name ?? '',
    commits: found(/^c (?<at>\d+) (?<id>[0-9a-f]+) (?<subject>.*)$/s).map(({ at, id = '', subject = '' }) => ({
      at: Number(at),
      id,
      subject,
    })),
    // A binary file has - for both.
    changes: found(/^n (?<added>\d+|-)\t(?<removed>\d+|-)\t(?<path>.*)$/s)
      .slice(0, ENTRIES_MAX)
      .map(({ added = '', removed = '', path = '' }) => ({ added, removed, path })),
    ignored: found(/^i (?<path>.*)$/s).map(({ path = '' }) => path),
    files: files.sort((a, b) => b.at - a.at).slice(0, ENTRIES_MAX),
  };
}
