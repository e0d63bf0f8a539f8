import { type ParsedScript, parse, type Word } from 'unbash';

/** UTF-16 units. The time of the parser grows with the text, and the client waits for it. */
const PARSED_MAX_CHARS = 32 * 1024;

/** The syntax tree of a text. Null if the text is too long or the parser cannot read it. */
export function readSyntax(text: string): ParsedScript | null {
  if (text.length > PARSED_MAX_CHARS) return null;
  const script = parse(text);
  return (script.errors ?? []).length > 0 ? null : script;
}

/** The word without its quotes. Null if only the shell knows what it becomes. */
export function literalOf({ parts, value, text }: Word): string | null {
  if (parts === undefined) return EXPANDED.test(text.replaceAll(/\\./gs, '')) ? null : value;
  const values = parts.map((part) => {
    if (part.type === 'SingleQuoted') return part.value;
    if (part.type === 'Literal') return EXPANDED.test(part.text.replaceAll(/\\./gs, '')) ? null : part.value;
    if (part.type !== 'DoubleQuoted') return null;
    return part.parts.every((inner) => inner.type === 'Literal')
      ? part.parts.map((inner) => inner.text).join('')
      : null;
  });
  return values.includes(null) ? null : values.join('');
}

/** What a shell may expand in text without quotes. The parser leaves some expansions in literals. */
const EXPANDED = /[$`*?[{~]|[<>]\(/;

/** What the parser makes of a node only when it is read. */
const LAZY = ['parts', 'indexParts', 'expression', 'initialize', 'test', 'update'] as const;

export function isNode(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** The nodes within a node, with the scripts of its expansions. */
export function childrenOf(node: object): unknown[] {
  const lazy = LAZY.filter((key) => key in node && !Object.prototype.propertyIsEnumerable.call(node, key));
  const inner =
    'inner' in node && typeof node.inner === 'string' && !('script' in node && node.script) ? node.inner : null;
  return [
    ...Object.values(node),
    ...lazy.map((key) => Reflect.get(node, key)),
    ...(inner === null ? [] : [parse(inner)]),
  ];
}
