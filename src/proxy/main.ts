import { ContextdError } from '../core/errors.ts';
import { newRequestId } from '../core/ids.ts';
import { readProxyEnvironment } from './environment.ts';
import { renderFailure } from './failure.ts';
import { readInstallation } from './installation.ts';
import { readInvocation } from './invocation.ts';
import { print, type Result } from './output.ts';
import { run } from './run.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** The program `contextd-proxy`: one call, one line, one exit code. */
async function main(): Promise<number> {
  const interruption = new AbortController();
  const interrupt = () => interruption.abort();
  for (const signal of SIGNALS) process.on(signal, interrupt);
  const result = await runCall(interruption.signal);
  for (const signal of SIGNALS) process.off(signal, interrupt);
  await print(result);
  return result.exitCode;
}

async function runCall(signal: AbortSignal): Promise<Result> {
  const requestId = newRequestId(Date.now());
  const installation = readInstallation();
  try {
    const environment = readProxyEnvironment();
    const invocation = readInvocation(environment.launchedAs);
    return await run({ invocation, environment, installation, requestId, signal });
  } catch (error) {
    return renderFailure(describe(error), requestId, installation.rankFile);
  }
}

/** The unknown is a fault of this program; there is no log, so its text goes out. */
function describe(thrown: unknown): ContextdError {
  if (thrown instanceof ContextdError) return thrown;
  return new ContextdError(
    'INTERNAL_ERROR',
    `contextd-proxy failed: ${thrown instanceof Error ? thrown.message : thrown}`,
    {
      remedy: 'Call again; if it stays, run ./install.sh again.',
    },
  );
}

main().then((exitCode) => process.exit(exitCode));
