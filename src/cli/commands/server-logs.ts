import { ContextdError } from '../../core/errors.ts';
import { defineCommand } from '../command.ts';
import type { CliContext } from '../context.ts';
import { followFile, tailFile } from '../daemon/log-file.ts';
import { printable, write } from '../render.ts';

const LINES_DEFAULT = 50;
const LINES_MAX = 100_000;

export const serverLogs = defineCommand({
  name: ['server', 'logs'],
  summary: "show the end of the daemon's log",
  options: [
    { syntax: '-n, --lines <count>', help: `how many lines (default ${LINES_DEFAULT})` },
    { syntax: '-f, --follow', help: 'go on with new lines until interrupted' },
  ],
  async run(context, given) {
    const follow = given.flag('follow');
    if (follow && given.flag('json')) {
      throw new ContextdError('ARGS_INVALID', '--json prints one value and --follow never ends', {
        remedy: 'Leave one of them out.',
      });
    }
    const { lines, end } = await tailFile(context.paths.logFile, given.count('lines', LINES_DEFAULT, LINES_MAX));
    if (!follow) return lines.map(parsed);
    await followLines(context, lines, end);
    return [];
  },
  view: (entries) => ({
    kind: 'lines',
    lines: entries.map((entry) => (typeof entry === 'string' ? entry : JSON.stringify(entry))),
  }),
});

async function followLines(context: CliContext, lines: readonly string[], end: number): Promise<void> {
  const show = (some: readonly string[]) => write(context.stdout, some.map((line) => `${printable(line)}\n`).join(''));
  await show(lines);
  await followFile(context.paths.logFile, end, context.signal, show);
}

/** A line as the object it is; a line that is none, such as a crash of the runtime, as text. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}
