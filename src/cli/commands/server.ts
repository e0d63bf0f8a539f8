import { ContextdError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import { quoteName } from '../../core/own-line.ts';
import type {
  BadLink__Output as BadLink,
  SandboxStatus__Output as SandboxStatus,
} from '../../protocol/generated/management.ts';
import { withClient } from '../client.ts';
import { defineCommand, type ParsedArgs } from '../command.ts';
import type { CliContext } from '../context.ts';
import { ensureRunning } from '../daemon/launch.ts';
import { followFile, tailFile } from '../daemon/log-file.ts';
import { replaceDaemon } from '../daemon/replace.ts';
import { describeCalls, describeJobs, type StopOptions, stopDaemon } from '../daemon/stop.ts';
import { confirm } from '../input.ts';
import { countOf, printable, write } from '../render.ts';

const serverStart = defineCommand({
  name: ['server', 'start'],
  summary: 'Start the daemon if it is not running, and wait until it answers.',
  async run(context) {
    const { status, started } = await ensureRunning(context);
    return { started, ...status };
  },
  view: ({ started, pid, socket, bad_links }) => ({
    kind: 'lines',
    lines: [
      `contextd ${started ? 'started' : 'is already running'} (pid ${pid}) at ${socket}`,
      ...badLinkLines(bad_links),
    ],
  }),
});

export const YES = { syntax: '--yes', help: 'end background jobs without asking' };

const serverStop = defineCommand({
  name: ['server', 'stop'],
  summary: 'Stop the daemon after its calls have ended, and wait until it is gone. Background jobs end with it.',
  options: [YES],
  async run(context, args) {
    const { pid, asked, ...ended } = await stopDaemon(context, stopOptions(context, args, 'stop'));
    return {
      stopped: pid !== undefined,
      pid: pid ?? null,
      active_calls: ended.activeCalls,
      ended_calls: ended.endedCalls ?? null,
      ended_jobs: ended.endedJobs ?? null,
      terminated: !asked,
    };
  },
  view: (result) => ({ kind: 'lines', lines: [result.pid === null ? 'no daemon is running' : stoppedLine(result)] }),
});

const serverRestart = defineCommand({
  name: ['server', 'restart'],
  summary: 'Replace the daemon by a new one, which goes on with its calls and background jobs.',
  options: [YES],
  run: restartDaemon,
  view(result) {
    const started = `contextd started (pid ${result.pid}) at ${result.socket}`;
    return { kind: 'lines', lines: [...restartedLines(result), started, ...badLinkLines(result.bad_links)] };
  },
});

type Restarted = Awaited<ReturnType<typeof restartDaemon>>;

function restartedLines(result: Restarted): string[] {
  const { previous_pid: pid, carried_calls: calls, carried_jobs: jobs } = result;
  if (pid === null) return [];
  if (calls !== null && jobs !== null) {
    const goOn = jobs === 0 ? '' : `, ${countOf(jobs, 'background job')} ${jobs === 1 ? 'goes' : 'go'} on`;
    return [`contextd (pid ${pid}) was replaced: ${countOf(calls, 'call')} carried on${goOn}, none refused`];
  }
  const { previous_active_calls: active_calls, previous_ended_calls: ended_calls } = result;
  const ended_jobs = result.previous_ended_jobs;
  return [stoppedLine({ pid, active_calls, ended_calls, ended_jobs, terminated: false })];
}

/**
 * A daemon that cannot hand over what runs is stopped and started: its background jobs end, after a question unless `--yes` was
 * given.
 */
export async function restartDaemon(context: CliContext, args: ParsedArgs) {
  const replaced = await replaceDaemon(context);
  if (replaced !== null) {
    const { previous, ...carried } = replaced;
    const stopped = { previous_active_calls: previous.active_calls, previous_ended_calls: 0, previous_ended_jobs: 0 };
    return { previous_pid: previous.pid, ...carried, ...stopped, ...(await ensureRunning(context)).status };
  }
  const previous = await stopDaemon(context, stopOptions(context, args, 'restart'));
  const { status } = await ensureRunning(context);
  return {
    previous_pid: previous.pid ?? null,
    carried_calls: null,
    carried_jobs: null,
    previous_active_calls: previous.activeCalls,
    previous_ended_calls: previous.endedCalls ?? null,
    previous_ended_jobs: previous.endedJobs ?? null,
    ...status,
  };
}

const BAD_LINKS_SHOWN = 5;

/** SEC-4.2: the daemon has looked at them when it started. */
function badLinkLines(links: readonly BadLink[]): string[] {
  if (links.length === 0) return [];
  const more = links.length - BAD_LINKS_SHOWN;
  return [
    'Tools that do not lead to contextd, so calls of them bypass it. Run `ctxd init` in the project:',
    ...links.slice(0, BAD_LINKS_SHOWN).map(({ path, found }) => `  ${quoteName(path)}: ${quoteName(found)}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

interface EndOfDaemon {
  readonly pid: number | null;
  readonly active_calls: number;
  readonly ended_calls: number | null;
  readonly ended_jobs: number | null;
  readonly terminated: boolean;
}

function stoppedLine({ pid, active_calls, ended_calls, ended_jobs, terminated }: EndOfDaemon): string {
  const calls = describeCalls({ activeCalls: active_calls, endedCalls: ended_calls ?? undefined });
  return `contextd (pid ${pid}) has stopped${terminated ? ' after SIGTERM' : ''}${calls}${describeJobs(ended_jobs)}`;
}

/** Asks only a person at a terminal: a script that stops the daemon means it. */
function stopOptions(context: CliContext, args: ParsedArgs, what: 'stop' | 'restart'): StopOptions {
  const mayEndJobs = args.flag('yes') || context.stdin.isTTY !== true;
  return {
    isRestart: what === 'restart',
    async confirmJobs(jobs) {
      if (mayEndJobs) return;
      const lines = jobs.map(({ id, project, command }) => `  ${id}  ${project}  ${command}`);
      const refusal = new ContextdError('CANCELLED', `the daemon keeps running, with ${countOf(jobs.length, 'job')}`, {
        remedy: `Run \`ctxd server ${what} --yes\` to end them.`,
      });
      await confirm(context, ['Background jobs end with the daemon:', ...lines], 'End them?', refusal);
    },
  };
}

const serverStatus = defineCommand({
  name: ['server', 'status'],
  summary: 'Show the running daemon.',
  run: (context) => withClient(context.paths, (client) => client.serverStatus({})),
  view: (status) => ({
    kind: 'pairs',
    pairs: [
      ['pid', String(status.pid)],
      ['version', status.version],
      ['uptime', `${Math.floor(status.uptime_ms / 1000)} s`],
      ['socket', status.socket],
      ['calls', `${status.calls} answered, ${status.active_calls} in flight`],
      ['projects', String(status.projects)],
      ['memory', mebibytes(status.resident_bytes)],
      ['isolation', `${status.isolation} on this machine; \`ctxd doctor\` shows a project's own`],
      ...sandboxPairs(status.sandbox),
      ...badLinkLines(status.bad_links).map((line): [string, string] => ['links', line.trim()]),
    ],
  }),
});

function sandboxPairs(sandbox: SandboxStatus | null): [string, string][] {
  if (sandbox === null) return [];
  const counts = new Map<string, number>();
  // A project has several entries: its commands and its tools have different policies.
  for (const { project, count } of sandbox.ready) counts.set(project, (counts.get(project) ?? 0) + count);
  const ready = [...counts].map(([project, count]) => `${count} for ${project}`).join(', ') || 'none';
  const { totals } = sandbox;
  return [
    ['spawner', `pid ${sandbox.spawner_pid}, ${mebibytes(sandbox.spawner_resident_bytes)}`],
    ['sandboxes', `${sandbox.running} running, ${sandbox.processes} tool processes`],
    ['ready', `${ready} (at most ${sandbox.ready_max}); ${sandbox.ready_used} commands served`],
    ...(totals === null
      ? []
      : ([
          ['sandbox memory', `${mebibytes(totals.memory_bytes)} of ${mebibytes(totals.memory_max_bytes)}`],
          ['sandbox pids', `${totals.pids} of ${totals.pids_max}`],
        ] satisfies [string, string][])),
  ];
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MiB`;
}

const LINES_DEFAULT = 50;
const LINES_MAX = 100_000;

const serverLogs = defineCommand({
  name: ['server', 'logs'],
  summary: "Show the end of the daemon's log.",
  options: [
    { syntax: '-n, --lines <count>', help: `number of lines (default ${LINES_DEFAULT})` },
    { syntax: '-f, --follow', help: 'print new lines until interrupted' },
  ],
  async run(context, args) {
    const follow = args.flag('follow');
    if (follow && args.flag('json')) {
      throw new ContextdError('ARGS_INVALID', '--json prints one value and --follow never ends', {
        remedy: 'Leave one of them out.',
      });
    }
    const { lines, end } = await tailFile(context.paths.logFile, args.count('lines', LINES_DEFAULT, LINES_MAX));
    if (!follow) return lines.map(parsed);
    await followLines(context, lines, end);
    return [];
  },
  view: (entries) => ({
    kind: 'either',
    terminal: { kind: 'lines', lines: entries.flatMap(readable) },
    piped: {
      kind: 'lines',
      lines: entries.map((entry) => (typeof entry === 'string' ? entry : JSON.stringify(entry))),
    },
  }),
});

export const serverCommands = [serverStart, serverStop, serverRestart, serverStatus, serverLogs];

/** A log entry for a person: local time, level, event, then the other fields. More lines of it, as of a stack, are indented. */
export function readable(entry: unknown): string[] {
  return textOf(entry)
    .split('\n')
    .map((line, index) => (index === 0 ? line : `    ${line}`));
}

function textOf(entry: unknown): string {
  if (!isJsonObject(entry)) return String(entry);
  const { time, level, event, ...fields } = entry;
  const at = new Date(typeof time === 'string' ? time : Number.NaN);
  const clock = Number.isNaN(at.getTime()) ? '' : at.toTimeString().slice(0, 8);
  const rest = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return [clock, String(level ?? '').padEnd(5), String(event ?? ''), ...rest]
    .filter((part) => part.trim() !== '')
    .join('  ');
}

async function followLines(context: CliContext, lines: readonly string[], end: number): Promise<void> {
  const shown = (line: string) => (context.stdout.isTTY === true ? readable(parsed(line)) : [line]);
  const show = (some: readonly string[]) =>
    write(
      context.stdout,
      some
        .flatMap(shown)
        .map((line) => `${printable(line)}\n`)
        .join(''),
    );
  await show(lines);
  await followFile(context.paths.logFile, end, context.signal, show);
}

/** A log line as an object. Other lines, such as a crash of the runtime, stay text. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}
