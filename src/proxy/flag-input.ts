import { ContextdError } from '../core/errors.ts';
import { nearestNames } from '../core/nearest-names.ts';
import {
  COMMON_OPTIONS,
  describeShape,
  type Properties,
  type Property,
  readArray,
  readProperties,
  readText,
} from './properties.ts';
import { OUT, OWN_SWITCHES, shorten, splitFlag, type Words } from './words.ts';

/** The most names in a message. */
const NAMES_MAX = 24;

interface Given {
  /** As the caller wrote it, without the value. */
  flag: string;
  property: Property;
  texts: string[];
}

interface Known {
  properties: Properties;
  /** By name, with every dash replaced by an underscore. */
  byPlainName: ReadonlyMap<string, Property[]>;
}

/**
 * Collects the input of a tool from flags: `--max-tokens 500`, `--max_tokens=500`, `--dry-run`, `--no-dry-run`,
 * `--env '{"A":"b"}'`. Dashes and underscores are the same in a name. The word after a flag is its value, even if it
 * begins with a dash; a boolean takes only `true` or `false`. A string is taken literally, an object is JSON, and an
 * array is JSON or the flag given several times.
 */
export class FlagInput {
  readonly #tool: string;
  readonly #toolDir: string;
  readonly #given = new Map<string, Given>();
  #known: Known | undefined;

  /** `toolDir` holds the schema.json. */
  constructor(tool: string, toolDir: string) {
    this.#tool = tool;
    this.#toolDir = toolDir;
  }

  get isEmpty(): boolean {
    return this.#given.size === 0;
  }

  /** The first flag as it was written; "" if there is no flag. */
  get first(): string {
    return shorten(this.#given.values().next().value?.flag ?? '');
  }

  /** Takes the flag `word` and, if it needs one, its value. Throws ARGS_INVALID. */
  take(word: string, words: Words): void {
    const { flag, attached } = splitFlag(word);
    const name = /^--(.+)$/s.exec(flag)?.[1];
    if (name === undefined) throw this.#unknown(flag);
    const property = this.#find(name);
    if (property !== undefined) this.#add(flag, property, attached ?? valueAfter(flag, property, words));
    else this.#takeNegated(flag, name, attached);
  }

  /**
   * Takes a JSON object as the value of the only property besides one text, which the words are for. False if the tool has other
   * properties: a command that was not quoted may look the same.
   */
  takeObject(json: string): boolean {
    const all = [...this.#knowProperties().properties.values()];
    const [only, ...others] = all.filter(({ types }) => types.join() === 'object');
    const texts = all.filter(({ types }) => types.join() === 'string');
    if (only === undefined || others.length > 0 || texts.length !== 1 || all.length !== 2) return false;
    this.#add(`--${only.name}`, only, json);
    return true;
  }

  /** The object as JSON text. Numbers and JSON values keep the spelling they were given in. */
  toJson(): string {
    const members = [...this.#given.values()].map(
      (given) => `${JSON.stringify(given.property.name)}:${readGiven(given, this.#tool)}`,
    );
    return `{${members.join(',')}}`;
  }

  #takeNegated(flag: string, name: string, attached: string | null): void {
    const negated = name.startsWith('no-') || name.startsWith('no_') ? this.#find(name.slice(3)) : undefined;
    if (negated === undefined || !isSwitch(negated)) throw this.#unknown(flag);
    if (attached !== null) throw invalid(flag, negated, `${shorten(flag)} takes no value`);
    this.#add(flag, negated, 'false');
  }

  #add(flag: string, property: Property, text: string): void {
    const given = this.#given.get(property.name);
    if (given === undefined) this.#given.set(property.name, { flag, property, texts: [text] });
    else if (mayBeArray(property)) given.texts.push(text);
    else throw invalid(flag, property, `${shorten(flag)} is given twice`);
  }

  /** A common option, the property with this name, or the only property whose name differs only in dashes. */
  #find(name: string): Property | undefined {
    const common = COMMON_OPTIONS.get(plain(name));
    if (common !== undefined) return common;
    const { properties, byPlainName } = this.#knowProperties();
    const exact = properties.get(name);
    if (exact !== undefined) return exact;
    const candidates = byPlainName.get(plain(name)) ?? [];
    if (candidates.length < 2) return candidates[0];
    const names = candidates.map((property) => property.name);
    throw new ContextdError('ARGS_INVALID', `--${shorten(name)} is ambiguous: it may mean ${listNames(names)}`, {
      remedy: `Write the name exactly, or give the input as JSON: ${this.#tool} '{"…":…}'.`,
    });
  }

  #knowProperties(): Known {
    if (this.#known !== undefined) return this.#known;
    const properties = readProperties(this.#toolDir, this.#tool);
    const byPlainName = new Map<string, Property[]>();
    for (const property of properties.values()) {
      const others = byPlainName.get(plain(property.name));
      if (others === undefined) byPlainName.set(plain(property.name), [property]);
      else others.push(property);
    }
    this.#known = { properties, byPlainName };
    return this.#known;
  }

  #unknown(flag: string): ContextdError {
    const tool = this.#tool;
    const known = [...this.#knowProperties().properties.keys(), ...COMMON_OPTIONS.keys()];
    const nearest = nearestNames(plain(flag.replace(/^-+/, '')), [...known, ...OWN_SWITCHES, OUT]);
    const hint = nearest.length === 0 ? '' : `; did you mean ${listNames(nearest)}?`;
    return new ContextdError('ARGS_INVALID', `unknown option ${shorten(flag)}${hint}`, {
      remedy: `${tool} takes ${listNames(known)}: see \`${tool} --schema\`. The word after a flag is its value, even if it begins with "-"; "--" does not end the flags. Quote a command and its options as one word.`,
      details: { flag: shorten(flag), nearest },
    });
  }
}

function valueAfter(flag: string, property: Property, words: Words): string {
  const next = words.args[words.at];
  if (isSwitch(property) && next !== 'true' && next !== 'false') return 'true';
  if (next === undefined) throw invalid(flag, property, `${shorten(flag)} needs a value`);
  words.at++;
  return next;
}

function readGiven({ flag, property, texts: [text = '', ...more], texts }: Given, tool: string): string {
  const value = more.length > 0 ? readArray(texts, property) : readText(text, property);
  if (value !== null) return value;
  const shown = shorten(texts.join(' '));
  throw invalid(flag, property, `${shorten(flag)} does not take ${JSON.stringify(shown)}`, tool);
}

/** True for a flag that may be given without a value. */
function isSwitch({ types }: Property): boolean {
  return types.length === 1 && types[0] === 'boolean';
}

function mayBeArray({ types }: Property): boolean {
  return types.length === 0 || types.includes('array');
}

function plain(name: string): string {
  return name.replaceAll('-', '_');
}

function listNames(names: readonly string[]): string {
  const shown = names.slice(0, NAMES_MAX).map((name) => `--${shorten(name)}`);
  return names.length > NAMES_MAX ? `${shown.join(', ')} and ${names.length - NAMES_MAX} more` : shown.join(', ');
}

function invalid(flag: string, property: Property, message: string, tool?: string): ContextdError {
  const expected = describeShape(property);
  const pointer = `/${property.name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  const hint = tool === undefined ? '' : ` \`${tool} --schema\` describes it.`;
  return new ContextdError('ARGS_INVALID', message, {
    remedy: `${shorten(flag)} takes ${expected}.${hint}`,
    details: { faults: [{ pointer, fault: `expected ${expected}` }] },
  });
}
