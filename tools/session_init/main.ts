import { readOptionalString } from '../../src/sdk/input.ts';
import type { ExecResult, JsonObject, Tool, ToolContext } from '../../src/sdk/tool.ts';

/** Entries of each kind, and the bytes of names that are read. */
const ENTRIES_MAX = 200;

/**
 * Prints a line for each commit (`c`, seconds, id, subject) and each file that differs from the last commit (`f`, seconds,
 * path), or outside a repository for each file of the last week. Line ends in names become \x01.
 */
const LOOK = `
list() { tr '\\n\\0' '\\001\\n' | head -n ${ENTRIES_MAX}; }
if git rev-parse --git-dir >/dev/null 2>&1; then
  git log -n 20 --format='c %ct %h %s' 2>/dev/null
  { git diff --name-only --relative --diff-filter=d -z HEAD; git ls-files -o --exclude-standard -z; } 2>/dev/null |
    head -z -n 2000 | xargs -0 -r stat --printf='f %Y %n\\0' -- 2>/dev/null | sort -z -t' ' -k2,2rn | list
else
  timeout 1 find . -xdev -name node_modules -prune -o -type f -mtime -7 -printf 'f %Ts %P\\0' 2>/dev/null |
    head -z -n 20000 | sort -z -t' ' -k2,2rn | list
fi`;

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
  const lines = stdout.split('\n');
  const commits = lines.flatMap((line) => {
    const [, at, id, subject] = /^c (\d+) ([0-9a-f]+) (.*)$/s.exec(line) ?? [];
    return id === undefined || subject === undefined ? [] : [{ at: Number(at), id, subject }];
  });
  const files = lines.flatMap((line) => {
    const [, at, path] = /^f (\d+) (.*)$/s.exec(line) ?? [];
    return path === undefined ? [] : [{ at: Number(at), path }];
  });
  return { commits, files };
}
