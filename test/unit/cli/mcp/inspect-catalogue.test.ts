import { describe, expect, it } from 'vitest';
import { inspectView } from '#src/cli/commands/mcp-inspect.js';
import { inspectCatalogue } from '#src/cli/mcp/inspect-catalogue.js';
import { renderView } from '#src/cli/render.js';
import { cardOf } from '#src/gateway/cards/make-card.js';
import { renderCard } from '#src/gateway/cards/render.js';
import type { CatalogItem } from '#src/gateway/item.js';
import { loadCounter } from '#src/tokens/counter.js';

const counter = loadCounter();

function tool(id: string, more: Partial<CatalogItem> = {}): CatalogItem {
  const [namespace = '', name = ''] = id.split(':');
  return { id, kind: 'tool', name, description: `Does ${name}.`, namespace, tags: [], ...more };
}

const LONG = {
  type: 'object',
  properties: { q: { type: 'string', description: 'A sentence about a query. '.repeat(20) } },
};

describe('ctxd mcp inspect', () => {
  it('issue 34: counts the tokens of definitions and of cards for each server and for all', () => {
    const items = [tool('git:log', { inputSchema: LONG }), tool('git:push'), tool('docs:find')];
    const report = inspectCatalogue(items, counter);
    const definitions = items.map(({ name, description, inputSchema = {} }) =>
      counter.count(JSON.stringify({ name, description, inputSchema })),
    );
    const cards = items.map((item) => counter.count(`${renderCard(cardOf(item, counter))}\n`));
    const [log = 0, push = 0, find = 0] = definitions;
    expect(report.servers).toMatchObject([
      { name: 'git', tools: 2, definition_tokens: log + push, schema_faults: 0 },
      { name: 'docs', tools: 1, definition_tokens: find },
    ]);
    expect(report).toMatchObject({ tools: 3, definition_tokens: log + push + find });
    expect(report.card_tokens).toBe(cards.reduce((all, one) => all + one, 0));
    expect(log).toBeGreaterThan(80);
  });

  it('issue 34: names schemas and ids that cannot be used, tools of the same name, and hints that no rule reads', () => {
    const report = inspectCatalogue(
      [
        tool('git:log', { inputSchema: { type: 'nonsense' }, tags: ['read-only'] }),
        tool('svn:log', { tags: ['destructive'] }),
        tool('a tool:x'),
      ],
      counter,
    );
    expect(report.inspected).toMatchObject([
      { id: 'git:log', fault: expect.stringContaining('meta-schema'), unverified: 'read-only' },
      { id: 'svn:log', fault: '', unverified: 'destructive' },
      { id: '"a tool:x"', fault: expect.stringContaining('is not an id'), card_tokens: 0 },
    ]);
    expect(report.schema_faults).toBe(2);
    expect(report.duplicates).toEqual([{ name: 'log', ids: ['git:log', 'svn:log'] }]);
    const shown = JSON.stringify(inspectView(report));
    for (const line of ['Fault of git:log', 'Same name log: git:log, svn:log', 'svn:log says that it is destructive'])
      expect(shown).toContain(line);
  });

  it('issue 34: shows nothing of descriptions and schemas', () => {
    const report = inspectCatalogue(
      [tool('git:log', { description: 'CANARY', inputSchema: { type: 'object', properties: { CANARY: {} } } })],
      counter,
    );
    expect(JSON.stringify([report, inspectView(report)])).not.toContain('CANARY');
  });
});

describe('ctxd mcp inspect of a hostile catalogue', () => {
  const FORGED = [
    'a\u001b[2J\u001b[31mred',
    'b\nFault of git:log: none',
    'c: it is fine. Not verified: git:log',
    'd\t9\t9\t9',
    'e   9   9   9',
    'f\u202egnp',
    'g, git:log',
    'h" `rm -rf`',
    `i${'x'.repeat(10_000)}`,
    'all',
  ];
  const items = FORGED.flatMap((text) => [
    { ...tool('x:y'), id: text, name: text, namespace: text },
    { ...tool('x:y'), id: `${text}!`, name: text, namespace: text, tags: ['destructive'] },
  ]);

  it.each([true, false])(
    'issue 34: no name ends its row or its line, or is read as more of it (terminal: %s)',
    (terminal) => {
      const lines = renderView(inspectView(inspectCatalogue(items, counter)), {
        terminal,
        colour: false,
        columns: 200,
      }).split('\n');
      const kinds =
        /^(?:SERVER|"[^"]*"|all|\(all\))(?:\t| {2})[\w\t ]+$|^(?:Fault of|Same name|Not verified:) (?:"[^"]*"|all!?)(?::? |$)/;
      expect(lines.filter((line) => line !== '' && !kinds.test(line))).toEqual([]);
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(400);
      const rows = lines.filter((line) => /^\(?all/.test(line)).map((line) => line.split(/\t| {2,}/).slice(0, 2));
      expect(rows).toEqual([
        ['all', '2'],
        ['(all)', String(items.length)],
      ]);
    },
  );
});
