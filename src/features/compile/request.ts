import { ContextdError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import { SENSITIVITIES, type Sensitivity } from '../events/event.ts';
import { PHASES, type Phase } from '../events/event-kinds.ts';
import { type CompileRequest, DEFAULT_SENSITIVITY } from './compile.ts';

/** A request as it was remembered. Throws ARGS_INVALID. */
export function readRequest(json: string): CompileRequest {
  const value: unknown = JSON.parse(json);
  const { phase, query, budgetTokens, isJson, sensitivity } = isJsonObject(value) ? value : {};
  const { floor, action } = isJsonObject(sensitivity) ? sensitivity : {};
  return {
    phase: phaseOf(String(phase)),
    query: String(query ?? ''),
    ...(typeof budgetTokens === 'number' ? { budgetTokens } : {}),
    ...(isJson === true ? { isJson } : {}),
    sensitivity: { floor: sensitivityOf(String(floor)), action: action === 'redact' ? 'redact' : 'drop' },
  };
}

/** Throws ARGS_INVALID. */
export function phaseOf(text: string): Phase {
  return oneOf(PHASES, text, 'phase');
}

/** '' is the default. Throws ARGS_INVALID. */
export function sensitivityOf(text: string): Sensitivity {
  return text === '' ? DEFAULT_SENSITIVITY.floor : oneOf(SENSITIVITIES, text, 'sensitivity');
}

function oneOf<T extends string>(known: readonly T[], text: string, what: string): T {
  const found = known.find((one) => one === text);
  if (found !== undefined) return found;
  throw new ContextdError('ARGS_INVALID', `not a ${what}: ${JSON.stringify(text.slice(0, 40))}`, {
    remedy: `Use one of ${known.join(', ')}.`,
  });
}
