import type { AnswerForm } from '../core/envelope.ts';
import { ContextdError } from '../core/errors.ts';
import { newRequestId } from '../core/ids.ts';
import { HOOK_PROGRAM, SHELL_PROGRAM } from '../core/shell-names.ts';
import { guessForm } from './arguments.ts';
import { readPackageRoot, readProxyEnvironment } from './environment.ts';
import { nameOf, readInstallation, readInvocation } from './invocation.ts';
import { print, type Result, renderFailure } from './output.ts';
import { run } from './run.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** The program `contextd-proxy`: one call, one answer, one exit code. */
async function main(): Promise<number> {
  const interruption = new AbortController();
  const interrupt = (signal: string) => interruption.abort(signal);
  for (const signal of SIGNALS) process.on(signal, interrupt);
  const { result, report } = await runCall(interruption.signal);
  for (const signal of SIGNALS) process.off(signal, interrupt);
  await print(result);
  await report?.();
  return result.exitCode;
}

/** The output, and a function that reports the call to the daemon if the proxy itself refused it. */
interface Ending {
  result: Result;
  report?: () => Promise<void>;
}

async function runCall(signal: AbortSignal): Promise<Ending> {
  const requestId = newRequestId(Date.now());
  const installation = readInstallation(readPackageRoot());
  let form = guessForm(process.argv.slice(2));
  let report: ((error: ContextdError) => Promise<void>) | undefined;
  try {
    const environment = readProxyEnvironment();
    const invocation = readInvocation(environment.launchedAs);
    if (nameOf(invocation) === HOOK_PROGRAM) {
      const { answerHook } = await import('./hook.ts');
      return { result: await answerHook({ invocation, environment, installation, requestId, signal }) };
    }
    const onForm = (known: AnswerForm): void => {
      form = known;
    };
    const onHandedOver = (): void => {
      report = undefined;
    };
    const call = { invocation, environment, installation, requestId, signal, onForm, onHandedOver };
    report = async (error) => (await import('./refusal-report.ts')).reportRefusal(call, error);
    if (nameOf(invocation) === SHELL_PROGRAM)
      return { result: await (await import('./shell/shell.ts')).runAsShell(call) };
    return { result: await run(call) };
  } catch (thrown) {
    const error = describe(thrown);
    const result = await renderFailure(error, form, requestId, installation.rankFile);
    const refused = report;
    return refused === undefined ? { result } : { result, report: () => refused(error) };
  }
}

/** An unknown error is a bug of this program. The proxy has no log, so the message is printed. */
function describe(thrown: unknown): ContextdError {
  if (thrown instanceof ContextdError) return thrown;
  return new ContextdError(
    'INTERNAL_ERROR',
    `contextd-proxy failed: ${thrown instanceof Error ? thrown.message : thrown}`,
    {
      remedy: 'Call again. If it fails again, run ./install.sh.',
    },
  );
}

main().then((exitCode) => process.exit(exitCode));
