import { ContextdError } from '../../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { foreignLine } from '../../text/foreign-line.ts';

/** An argument of a prompt, or a variable of a resource template. Its value is a text. */
export interface Declared {
  readonly name: string;
  /** One line of the server; may be empty. */
  readonly description: string;
  readonly isRequired: boolean;
}

/** The arguments that a prompt declares; of two with the same name the first counts. */
export function argumentsOf({ arguments: declared }: JsonObject): Declared[] {
  const found = new Map<string, Declared>();
  for (const one of Array.isArray(declared) ? declared : []) {
    if (!isJsonObject(one) || typeof one.name !== 'string' || found.has(one.name)) continue;
    const description = typeof one.description === 'string' ? foreignLine(one.description) : '';
    found.set(one.name, { name: one.name, description, isRequired: one.required === true });
  }
  return [...found.values()];
}

/** Names as a card shows them: `repo, [style]`. */
export function shownNames(declared: readonly Declared[]): string {
  return declared.map(({ name, isRequired }) => (isRequired ? foreignLine(name) : `[${foreignLine(name)}]`)).join(', ');
}

/**
 * The texts that were given for what is declared. Throws ARGS_INVALID with every fault: one that is required and missing, one
 * that is not declared, and one that is no text. `key`: the property of the call that holds them.
 */
export function checkedTexts(
  given: Json | undefined,
  declared: readonly Declared[],
  { id, key }: { id: string; key: 'args' | 'variables' },
): Record<string, string> {
  const values = isJsonObject(given) ? given : {};
  const names = new Set(declared.map(({ name }) => name));
  const texts = Object.entries(values).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' && names.has(name) ? [[name, value]] : [],
  );
  const faults = [
    ...declared
      .filter(({ name, isRequired }) => isRequired && !Object.hasOwn(values, name))
      .map(({ name }) => ({ pointer: pointerTo(key, name), fault: 'is required' })),
    ...Object.entries(values).flatMap(([name, value]) => {
      const fault = !names.has(name) ? 'is unknown' : typeof value === 'string' ? null : 'must be a text';
      return fault === null ? [] : [{ pointer: pointerTo(key, name), fault }];
    }),
  ];
  if (faults.length === 0) return Object.fromEntries(texts);
  const said = faults.slice(0, FAULTS_MAX).map(({ pointer, fault }) => `${pointer} ${fault}`);
  throw new ContextdError('ARGS_INVALID', `${said.join('; ')}, for ${id}`, {
    remedy: declared.length === 0 ? `Leave out ${key}.` : `Pass ${key} as an object of texts: ${explained(declared)}.`,
    details: { faults: faults.slice(0, DETAILS_MAX) },
  });
}

/** Faults that the message and the details name, and declared names that the remedy explains. */
const FAULTS_MAX = 5;
const DETAILS_MAX = 50;
const EXPLAINED_MAX = 20;
const EXPLANATION_MAX_CHARS = 80;

function explained(declared: readonly Declared[]): string {
  const shown = declared.slice(0, EXPLAINED_MAX).map(({ name, description, isRequired }) => {
    const about = description.slice(0, EXPLANATION_MAX_CHARS);
    return `${foreignLine(name)}${isRequired ? ' (required)' : ''}${about === '' ? '' : `: ${about}`}`;
  });
  return [...shown, ...(declared.length > EXPLAINED_MAX ? ['…'] : [])].join('; ');
}

function pointerTo(key: string, name: string): string {
  const shown = foreignLine(name.slice(0, EXPLANATION_MAX_CHARS));
  return `/${key}/${shown.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
