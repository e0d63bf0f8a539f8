import { isJsonObject, type Json, type JsonObject } from './json.ts';
import { shellNameOf, toolOfShellName } from './shell-names.ts';
import { argumentNames, type CallerPlace, nameOnSurface, surfaceCall } from './surface-calls.ts';

/** Puts what contextd says into the words of a caller. Messages name calls as a shell takes them. */
export interface CallerWords {
  /** A remedy, a warning or a text that names calls: `tool_browse 'run a command'`. */
  advice(text: string): string;
  /** What failed: names of tools and pointers of arguments. */
  message(text: string): string;
  /** A call of a tool. */
  call(tool: string, args: JsonObject): string;
}

/** The tools of contextd that messages name, their arguments, and the one that plain words are. */
export type NamedTools = ReadonlyMap<string, { readonly primary: string | null; readonly names: readonly string[] }>;

/** What stands for a call that the caller has no tool for. */
const THE_LIST = 'the list of tools';

/** The words of a client of MCP, which passes arguments as JSON and has only the tools of its surface. */
export function surfaceWords(place: CallerPlace, tools: NamedTools): CallerWords {
  const shellNames = Array.from(tools.keys(), shellNameOf).filter((name) => name !== 'branch');
  // Without backticks a single word, such as the name of an installed tool, may mean anything.
  const unmistakable = shellNames.filter((name) => name.includes('_')).join('|');
  const spelled = (name: string, args: JsonObject | undefined): string | null => {
    const call = surfaceCall(toolOfShellName(name), args, place);
    return call && [call.tool, ...(call.args === undefined ? [] : [JSON.stringify(call.args)])].join(' ');
  };
  const put = (name: string, rest: string): string | null => {
    const words = rest.trim();
    if (HELP.test(words)) return spelled('tool_hydrate', { tool_id: toolOfShellName(name) });
    const { primary } = tools.get(toolOfShellName(name)) ?? { primary: null };
    return spelled(name, words === '' ? undefined : argumentsOf(words, primary));
  };
  const fenced = new RegExp(`\`(${shellNames.join('|')})( [^\`]*)?\``, 'g');
  const bare = new RegExp(`(?<![\\w/.:"'@\`-])(${unmistakable})(?![\\w/@:-]|\\.\\w)( '(?:[^']|'\\\\'')*')?`, 'g');
  const ofCaller = argumentNames(place);
  const flags = new Set([...tools.values()].flatMap(({ names }) => names));
  const pointers = new RegExp(`(?<![\\w/])/(${Object.keys(ofCaller).join('|')})(?![\\w-])`, 'g');
  return {
    call: (tool, args) => spelled(tool, args) ?? THE_LIST,
    advice(text) {
      const parts = withoutFlags(text, flags).split(fenced);
      // The parts between are outside of backticks: text, name, rest, text, …
      return parts
        .map((part, at) => {
          if (at % 3 === 2) return '';
          if (at % 3 === 0) return part.replace(bare, (_all, name: string, rest = '') => put(name, rest) ?? THE_LIST);
          const call = put(part, parts[at + 1] ?? '');
          return call === null ? THE_LIST : `\`${call}\``;
        })
        .join('')
        .replace(
          KNOWN,
          (_all, list: string) =>
            `Known properties: ${list
              .split(', ')
              .map((name) => ofCaller[name] ?? name)
              .join(', ')}`,
        )
        .replace(/(^|[.!?] )the list of tools/g, (_all, before: string) => `${before}The list of tools`);
    },
    message(text) {
      const named = text.replace(bare, (all: string, name: string) => {
        const known = nameOnSurface(toolOfShellName(name), place.surface);
        return `${known}${all.slice(name.length)}`;
      });
      return Object.keys(ofCaller).length === 0
        ? named
        : named.replace(pointers, (_all, name: string) => `/${ofCaller[name] ?? name}`);
    },
  };
}

/** A command, which stays as it is; a flag with its value in JSON beside it; a flag. */
const FLAGS =
  /(`[^`-][^`]*`|\bctxd [^.;`]*)|`--[^`]*`(?: \(in JSON (`[^`]+`)\)|, in JSON (`[^`]+`))|(?<![\w-])--([a-z][a-z-]*)/g;

/** Flags are arguments to a client that passes JSON. */
function withoutFlags(text: string, names: ReadonlySet<string>): string {
  return text.replace(FLAGS, (all: string, command?: string, beside?: string, after?: string, flag?: string) => {
    if (command !== undefined || flag === undefined) return command ?? beside ?? after ?? all;
    const name = flag.replaceAll('-', '_');
    return names.has(name) ? name : all;
  });
}

/** How a fault of arguments lists those that there are. */
const KNOWN = /Known properties: (\w+(?:, \w+)*)/;

/** What shows the schema or a document of a tool. */
const HELP = /^--(?:help|extended|schema)\b/;

const WORD = /'((?:[^']|'\\'')*)'|"((?:[^"\\]|\\.)*)"|(\S+)/g;

/** The arguments of a command line: plain words, flags with values, and one JSON object. */
function argumentsOf(line: string, primary: string | null): JsonObject {
  const words = Array.from(line.matchAll(WORD), ([, quoted, double, plain]) =>
    quoted === undefined ? (double ?? plain ?? '') : quoted.replaceAll("'\\''", "'"),
  );
  const firstFlag = words.findIndex((word) => word.startsWith('--'));
  const plain = firstFlag === -1 ? words : words.slice(0, firstFlag);
  const flags = firstFlag === -1 ? [] : words.slice(firstFlag);
  const [first = '', ...others] = plain;
  const whole = jsonOf(first);
  const given: JsonObject =
    plain.length === 0
      ? {}
      : isJsonObject(whole)
        ? whole
        : { [primary ?? 'input']: first, ...(isJsonObject(jsonOf(others[0])) ? { args: jsonOf(others[0]) } : {}) };
  const found: Record<string, Json> = { ...given };
  for (let at = 0; at < flags.length; at += 2) {
    const [name = '', value] = flags.slice(at, at + 2);
    if (value === undefined) return found;
    found[name.slice(2)] = jsonOf(value);
  }
  return found;
}

/** JSON, or the text itself. */
function jsonOf(text = ''): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
