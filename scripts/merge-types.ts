import { basename, dirname, join } from 'node:path';

/** One file to write. */
interface Merged {
  /** The .proto file, or what stands for it. */
  original: string;
  /** What it imports, by file or package. */
  imports: Map<string, Set<string>>;
  declarations: string[];
}

/**
 * Merges the files of proto-loader's generator, one a message, into one file a .proto file: the messages of `tool.proto`
 * are in `tool.ts`. Its service is in `tool-service.ts`, because messages are plain data and depend on no transport.
 * `files` and the result: text by path below the folder of the generated code. A type of the same file then needs no
 * import and no alias.
 */
export function mergeTypes(files: ReadonlyMap<string, string>): Map<string, string> {
  const merged = new Map<string, Merged>();
  for (const [path, text] of [...files].sort(messagesFirst)) {
    const target = targetOf(path, text);
    const { original, imports, declarations } = merged.get(target) ?? started(text);
    merged.set(target, { original, imports, declarations });
    const own = new Map<string, string>();
    for (const { specifier, names } of importsOf(text)) {
      const from = specifier.startsWith('.') ? targetFor(join(dirname(path), specifier), files) : specifier;
      for (const { name, alias } of names)
        if (from === target) own.set(alias, name);
        else add(imports, from, name === alias ? name : `${name} as ${alias}`);
    }
    declarations.push(text.replace(HEADS, '').replace(/\w+/g, (word) => own.get(word) ?? word));
  }
  return new Map([...merged].map(([target, it]) => [target, render(target, it)]));
}

const ORIGINAL = /^\/\/ Original file: (.*)$/m;
const IMPORT = /^import type (?:\{ (.*) \}|(\* as \w+)) from '(.*)';?$/gm;
/** The lines of a file that are not declarations. */
const HEADS = /^(?:\/\/ Original file: |import type ).*$/gm;
/** Types that protobuf itself defines have no file. */
const OF_PROTOBUF = 'google_protobuf.ts';

/** Files at the top describe a whole .proto file with its service. They do not name it, but are called like it. */
function targetOf(path: string, text: string): string {
  if (dirname(path) === '.') return serviceFile(basename(path, '.ts'));
  const original = originalOf(text);
  if (original === 'null') return OF_PROTOBUF;
  const name = basename(original, '.proto');
  return text.includes("from '@grpc/grpc-js'") ? serviceFile(name) : `${name}.ts`;
}

function serviceFile(name: string): string {
  return `${name}-service.ts`;
}

function originalOf(text: string): string {
  const original = ORIGINAL.exec(text)?.[1];
  if (original === undefined) throw new Error(`a generated file does not name its .proto file:\n${text}`);
  return original;
}

function started(text: string): Merged {
  return { original: originalOf(text), imports: new Map(), declarations: [] };
}

function targetFor(path: string, files: ReadonlyMap<string, string>): string {
  const text = files.get(path);
  if (text === undefined) throw new Error(`${path} is imported but was not generated`);
  return targetOf(path, text);
}

function messagesFirst([a]: readonly [string, string], [b]: readonly [string, string]): number {
  const isTop = (path: string): number => (dirname(path) === '.' ? 1 : 0);
  return isTop(a) - isTop(b) || (a < b ? -1 : 1);
}

function importsOf(text: string): { specifier: string; names: { name: string; alias: string }[] }[] {
  return [...text.matchAll(IMPORT)].map(([, list, all = '', specifier = '']) => ({
    specifier,
    names: (list?.split(', ') ?? [all]).map((item) => {
      const [name = item, alias = name] = item.startsWith('*') ? [item] : item.split(' as ');
      return { name, alias };
    }),
  }));
}

function add(imports: Map<string, Set<string>>, from: string, name: string): void {
  imports.set(from, (imports.get(from) ?? new Set()).add(name));
}

function render(target: string, { original, imports, declarations }: Merged): string {
  const text = declarations.map((one) => one.trim().replaceAll(/\n{3,}/g, '\n\n'));
  const names = text.flatMap((one) => [...one.matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name]) => name));
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  if (twice.length > 0) throw new Error(`${target} would declare ${twice.join(', ')} twice`);
  const lines = [...imports].sort().flatMap(([from, wanted]) => {
    const specifier = from.endsWith('.ts') ? `./${from}` : from;
    const [all, ...named] = [...wanted].sort();
    if (all?.startsWith('*')) return [`import type ${all} from '${specifier}';`];
    return [`import type { ${[all, ...named].join(', ')} } from '${specifier}';`];
  });
  const head = `// Original file: ${original === 'null' ? 'none, these are types of protobuf itself' : original}`;
  return `${[head, ...(lines.length === 0 ? [] : [lines.join('\n')]), ...text].join('\n\n')}\n`;
}
