import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '../..');
/** A message has at least this many words. */
const MIN_WORDS = 3;
/** What stands in a message for a value, by a word in the expression that it is put in with. */
const VALUES: readonly [expression: RegExp, value: string][] = [
  [/path|file|dir|folder|root|target|link/i, '/etc/passwd'],
  [/tool|name|key|field/i, 'safe_bash'],
  [/host|url|domain/i, 'registry.example.com'],
  [/code|signal/i, 'PERMISSION_DENIED'],
  [/token|secret/i, 'NAME'],
  [/command|program/i, 'git push'],
];

/**
 * Every message, remedy and help text that stands in the source of contextd and its tools: strings and templates of
 * several words, with a usual value in the place of each expression, and the documents of the tools.
 */
export function ownMessages(): string[] {
  const messages = new Set<string>();
  for (const folder of ['src', 'tools'])
    for (const name of readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })) {
      const text = (): string => readFileSync(join(ROOT, folder, name), 'utf8');
      if (name.endsWith('.ts')) for (const message of messagesOf(text())) messages.add(message);
      else if (/TOOL\w*\.md$/.test(name))
        for (const line of text().split('\n')) if (isMessage(line)) messages.add(line);
    }
  return [...messages];
}

/** The errors in the source whose message names a token of a session by its number, and whether they declare it. */
export function errorsThatNameTokens(): { error: string; declaresToken: boolean }[] {
  const found: { error: string; declaresToken: boolean }[] = [];
  for (const name of readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue;
    const text = readFileSync(join(ROOT, 'src', name), 'utf8');
    if (!text.includes('[SECRET_${')) continue;
    const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest);
    const visit = (node: ts.Node): void => {
      if (ts.isNewExpression(node) && node.expression.getText(file) === 'ContextdError') {
        const [, message, options] = node.arguments ?? [];
        const declared = options?.getText(file).replace(/details: \{[^}]*\}/g, '') ?? '';
        if (message?.getText(file).includes('[SECRET_${') === true)
          found.push({ error: `${name}: ${message.getText(file)}`, declaresToken: /\btoken:/.test(declared) });
      }
      ts.forEachChild(node, visit);
    };
    visit(file);
  }
  return found;
}

function messagesOf(source: string): string[] {
  const messages: string[] = [];
  const file = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest);
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) messages.push(node.text);
    else if (ts.isTemplateExpression(node))
      messages.push(
        node.head.text +
          node.templateSpans.map(({ expression, literal }) => usual(expression.getText(file)) + literal.text).join(''),
      );
    ts.forEachChild(node, visit);
  };
  visit(file);
  return messages.filter(isMessage);
}

/** Sentences, and no patterns or tables. What looks like a token of a session is written otherwise on purpose. */
function isMessage(text: string): boolean {
  const words = text.match(/(?<![\w/])[A-Za-z]{2,}(?![\w/])/g) ?? [];
  return words.length >= MIN_WORDS && /^[\w`"'([{<$-].* /s.test(text) && !text.includes('[SECRET');
}

function usual(expression: string): string {
  return VALUES.find(([known]) => known.test(expression))?.[1] ?? '3';
}
