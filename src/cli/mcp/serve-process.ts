import { ContextdError } from '../../core/errors.ts';
import { createContext } from '../context.ts';
import { exitCodeFor, renderError } from '../render.ts';
import { serveMcp } from './serve.ts';
import type { ServeOptions } from './serve-options.ts';

/** Serves as this process and sets its exit code. Signals end it as they end `ctxd`. */
export async function runServer(options: ServeOptions): Promise<void> {
  const interruption = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interruption.abort());
  try {
    await serveMcp(createContext(process, process.cwd(), interruption.signal), options);
  } catch (thrown) {
    const error = ContextdError.from(thrown);
    process.stderr.write(renderError(error));
    process.exitCode = exitCodeFor(error);
  }
}
