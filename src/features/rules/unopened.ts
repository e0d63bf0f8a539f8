/** An array that a builtin assigns, such as `declare A=(…)`. The parser leaves it one word. */
const ARRAY = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=\(/;
const EXPANSION = /\$\(|`|[<>]\(/;

/** The text of a word that holds expansions which the parser has not opened. `isSource`: the shell reads the text as an assignment. */
export function unopenedText(node: object): { text: string; isSource: boolean } | undefined {
  if ('type' in node || !('text' in node && 'value' in node && 'pos' in node)) return undefined;
  const { text } = node;
  if (typeof text !== 'string' || Reflect.get(node, 'parts') !== undefined) return undefined;
  if (!EXPANSION.test(text.replaceAll(/\\./gs, ''))) return undefined;
  return { text, isSource: ARRAY.test(text) };
}

/** What the parser makes of a node only when it is read. */
const LAZY = ['parts', 'indexParts', 'expression', 'initialize', 'test', 'update'] as const;

export function childrenOf(node: object): unknown[] {
  const lazy = LAZY.filter((key) => key in node && !Object.prototype.propertyIsEnumerable.call(node, key));
  return [...Object.values(node), ...lazy.map((key): unknown => Reflect.get(node, key))];
}
