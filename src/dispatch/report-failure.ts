import { ContextdError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import type { Call } from './call.ts';
import type { StepName } from './call-state.ts';

/** Logs the cause and the failed step, if any. The answer carries only the code and the message. */
export function reported(
  call: Call,
  thrown: unknown,
  { logger }: { logger: Logger },
  step: StepName | null = null,
): ContextdError {
  const failure = ContextdError.from(thrown);
  if (failure.cause !== undefined || failure.code === 'INTERNAL_ERROR') {
    logger.warn('call.failed', {
      request_id: call.requestId,
      ...(step === null ? {} : { step }),
      code: failure.code,
      cause: describe(failure.cause ?? thrown),
    });
  }
  return failure;
}

function describe(cause: unknown): string {
  return cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
}
