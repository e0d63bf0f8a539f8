import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { REQUIREMENTS } from './requirements.ts';

const ID = /\b(?:FR|CE|SEC|NFR|API|DATA)-\d+(?:\.\d+)?\b/g;

/** The first string argument of every it(...), test(...), describe(...) and their .each/.runIf forms. */
function titlesOf(path: string): string[] {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const titles: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /^(it|test|describe)\b/.test(node.expression.getText())) {
      const title = node.arguments[0];
      if (title && (ts.isStringLiteralLike(title) || ts.isTemplateExpression(title))) titles.push(title.getText());
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return titles;
}

const cited = new Set(
  readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts') && path !== 'requirements.test.ts')
    .flatMap((path) => titlesOf(join(import.meta.dirname, path)))
    .flatMap((title) => title.match(ID) ?? []),
);

it('every id a test cites is a requirement', () => {
  expect([...cited].filter((id) => !(id in REQUIREMENTS))).toEqual([]);
});

it('every requirement that is not pending is cited by a test', () => {
  const built = Object.entries(REQUIREMENTS).filter(([, requirement]) => requirement.pending === undefined);
  expect(built.map(([id]) => id).filter((id) => !cited.has(id))).toEqual([]);
});

it('a pending requirement says why', () => {
  const pending = Object.entries(REQUIREMENTS).filter(([, requirement]) => requirement.pending !== undefined);
  expect(pending.filter(([, requirement]) => (requirement.pending ?? '').length < 3).map(([id]) => id)).toEqual([]);
});
