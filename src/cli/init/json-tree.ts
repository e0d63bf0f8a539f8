import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode, stripComments } from 'jsonc-parser';
import { ContextdError } from '../../core/errors.ts';

/** Deeper nesting is refused, because the parser is recursive. */
const DEPTH_MAX = 200;

/** Many entries are looked up in the same text. Its tree is never changed. */
let last: { text: string; root: Node } | undefined;

/** The tree of a JSON text with comments and trailing commas. Throws SyntaxError if it is anything else. */
export function parse(text: string): Node {
  if (last?.text !== text) last = { text, root: parseAll(text) };
  return last.root;
}

/** What a file without a value stands for: clients take it for one without settings. */
export const NO_VALUE: Node = { type: 'object', offset: 0, length: 0, children: [] };

function parseAll(text: string): Node {
  checkDepth(text);
  const errors: ParseError[] = [];
  // A byte order mark is no part of the value. A blank in its place keeps the offsets.
  const root = parseTree(text.replace(/^\uFEFF/, ' '), errors, { allowTrailingComma: true });
  const [error] = errors;
  if (root !== undefined && error === undefined) return root;
  const isBlank =
    stripComments(text).trim() === '' && errors.every((one) => printParseErrorCode(one.error) === 'ValueExpected');
  if (isBlank) return NO_VALUE;
  const line = text.slice(0, error?.offset ?? 0).split('\n').length;
  const what = error === undefined ? 'ValueExpected' : printParseErrorCode(error.error);
  throw new SyntaxError(`line ${line}: ${what.replaceAll(/\B[A-Z]/g, ' $&').toLowerCase()}`);
}

function checkDepth(text: string): void {
  const scanner = createScanner(text, true);
  for (let depth = 0; scanner.getPosition() < text.length; ) {
    scanner.scan();
    const token = text.charAt(scanner.getTokenOffset());
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') depth -= 1;
    if (depth > DEPTH_MAX) throw new ContextdError('SCHEMA_INVALID', `values are nested deeper than ${DEPTH_MAX}`);
  }
}
