import { Command, Option } from 'commander';
import { readEnvironment } from '../config/env.ts';
import { findInstallRoot } from '../config/install-root.ts';
import { resolvePaths } from '../config/paths.ts';
import { systemClock, systemTimer } from '../core/clock.ts';
import { ContextdError, ERROR_TABLE } from '../core/errors.ts';
import { PACKAGE_VERSION } from '../protocol/versions.ts';
import { type Program, type ServeOptions, serve } from './serve.ts';

/** Exit code of a usage error. */
const EXIT_USAGE = 2;
/** Makes every file that a part creates private to this user, even if the part sets no mode. */
const PRIVATE_UMASK = 0o077;

/** `contextd serve [--foreground]` and `contextd --version`, with the parts that `compose` builds. Ends the process. */
export async function runProgram(argv: readonly string[], compose: Program['compose']): Promise<void> {
  const program = new Command('contextd').description('The contextd daemon. Manage it with ctxd.');
  program.version(PACKAGE_VERSION, '--version', 'Print the version.').helpOption('--help', 'Print this help.');
  program.exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : EXIT_USAGE));
  program
    .command('serve')
    .description('Run the daemon in this process.')
    .option('--foreground', 'Log to stderr instead of the log file.', false)
    .addOption(
      new Option('--replaceable', 'Nothing watches this process: after a restart, another one goes on.').hideHelp(),
    )
    .addOption(new Option('--take-over', 'Go on with what the daemon that started this one hands over.').hideHelp())
    .action((options: ServeOptions) => serveAndExit(compose, options));
  await program.parseAsync(argv);
}

async function serveAndExit(compose: Program['compose'], options: ServeOptions): Promise<never> {
  try {
    process.umask(PRIVATE_UMASK);
    process.chdir('/');
    const environment = readEnvironment();
    const paths = resolvePaths(environment, findInstallRoot());
    await serve({ environment, paths, clock: systemClock, timer: systemTimer, compose }, options);
    return process.exit(0);
  } catch (thrown) {
    console.error(failureLine(thrown));
    return process.exit(ERROR_TABLE[ContextdError.from(thrown).code].exitCode);
  }
}

/** One line on why the daemon did not start, with the remedy and without a stack. */
export function failureLine(thrown: unknown): string {
  const error = ContextdError.from(thrown);
  const known = error.code !== 'INTERNAL_ERROR' || thrown instanceof ContextdError;
  const message = known ? error.message : `cannot start: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  const remedy = known ? error.remedy : 'Run `contextd serve --foreground` to see more, or `ctxd doctor`.';
  return `contextd: ${oneLine(remedy === undefined ? message : `${message}. ${remedy}`)}`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s*[\r\n]+\s*/g, ' ');
}
