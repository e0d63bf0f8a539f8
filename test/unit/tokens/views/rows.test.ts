import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { viewRows } from '#src/tokens/views/rows.js';
import { viewTextRows } from '#src/tokens/views/text-rows.js';
import { costOf } from '../../../../scripts/pattern-trial.ts';

const view = (text: string, first = 1, last = Number.POSITIVE_INFINITY, columns: string[] | null = null) => {
  const viewed = viewRows(text, { first, last, columns });
  return { text: viewed.kind === 'text' ? viewed.text : '', facts: viewed.facts };
};
const lines = (...all: string[]) => `${all.join('\n')}\n`;

const DOCKER = lines(
  'CONTAINER ID   IMAGE          COMMAND                  CREATED       STATUS       PORTS                  NAMES',
  'a1b2c3d4e5f6   nginx:latest   "nginx -g \'daemon of…"   2 hours ago   Up 2 hours   0.0.0.0:80->80/tcp     web',
  '0f9e8d7c6b5a   redis:7        "docker-entrypoint.s…"   2 hours ago   Up 2 hours                          cache',
);
const PS = lines(
  'USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND',
  'root           1  0.4  0.0  52840 21208 ?        SLl  03:43   3:01 /init --addr 0.0.0.0:2024',
  'www-data   31337 12.0  1.5 123456  9999 pts/0    R+   03:43   0:00 php  -S  localhost',
);
const PSQL = lines(' id | name  | note ', '----+-------+------', '  1 | Ann   | a', '  2 | Bob   | ', '(2 rows)');
const MYSQL = lines(
  '+----+-----+',
  '| id | who |',
  '+----+-----+',
  '|  1 | Ann |',
  '|  2 | Bob |',
  '+----+-----+',
  '2 rows in set',
);
const MARKDOWN = lines('# T', '', '| a | b\\|c |', '|---|:-:|', '| 1 | x \\| y |', '| 2 | z |', '', 'after');

describe('the view rows', () => {
  it('takes rows of CSV with quotes, line ends in cells and CRLF', () => {
    const csv = 'id,"na ""me",note\r\n1,"a,\r\nb",x\r\n\r\n2,5" disk,"y""z"\r\n3,,\r\n';
    expect(view(csv, 2, 2)).toEqual({
      text: 'id,"na ""me",note\r\n2,5" disk,"y""z"\r\n',
      facts: { rows: 3, columns: 3, dialect: 'csv' },
    });
    expect(view(csv, 1, 1, ['note', 'na "me']).text).toBe('note,"na ""me"\r\nx,"a,\r\nb"\r\n');
    expect(view(csv, 3, 3, ['NOTE', 'id']).text).toBe('note,id\r\n,3\r\n');
    expect(view(csv, 9, 10)).toMatchObject({ text: 'id,"na ""me",note\r\n', facts: { rows: 3 } });
  });

  it('recognises tabs and semicolons, and chooses the separator that fits all rows', () => {
    expect(view('a\tb\n1,2\t3\n', 1, 1, ['b'])).toMatchObject({ text: 'b\n3\n', facts: { dialect: 'tsv' } });
    expect(view('a;b,c\n1,5;2,5\n2,5;3,5\n', 2, 2)).toMatchObject({
      text: 'a;b,c\n2,5;3,5\n',
      facts: { dialect: 'semicolons' },
    });
  });

  it('treats a quote that is never closed as a character', () => {
    expect(view('a,b\n1,"x\n2,y\n', 2, 2)).toMatchObject({ text: 'a,b\n2,y\n', facts: { rows: 2 } });
  });

  it('reads the tables of psql, mysql and Markdown', () => {
    expect(view(PSQL, 2, 2, ['note', 'id'])).toEqual({
      text: lines(' note | id ', '------+----', ' |  2 '),
      facts: { rows: 2, columns: 3, dialect: 'pipes', lines_after: 1 },
    });
    expect(view(PSQL, 1, 1).text).toBe(lines(' id | name  | note ', '----+-------+------', '  1 | Ann   | a'));
    expect(view(MYSQL, 2, 2, ['who']).text).toBe(lines('+-----+', '| who |', '+-----+', '| Bob |'));
    expect(view(MYSQL).facts).toEqual({ rows: 2, columns: 2, dialect: 'pipes', lines_after: 1 });
    expect(view(MARKDOWN, 1, 1, ['b\\|c', 'a'])).toEqual({
      text: lines('| b\\|c | a |', '|:-:|---|', '| x \\| y | 1 |'),
      facts: { rows: 2, columns: 2, dialect: 'pipes', lines_before: 1, lines_after: 1 },
    });
  });

  it('reads tables that are aligned with blanks', () => {
    expect(view(DOCKER, 2, 2)).toEqual({
      text: lines(DOCKER.split('\n')[0] ?? '', DOCKER.split('\n')[2] ?? ''),
      facts: { rows: 2, columns: 7, dialect: 'aligned' },
    });
    expect(view(DOCKER, 1, 2, ['NAMES', 'CONTAINER ID', 'PORTS', 'CREATED']).text).toBe(
      lines(
        'NAMES CONTAINER ID   PORTS                  CREATED',
        'web   a1b2c3d4e5f6   0.0.0.0:80->80/tcp     2 hours ago',
        'cache 0f9e8d7c6b5a                          2 hours ago',
      ),
    );
    expect(view(PS, 2, 2, ['PID', '%CPU', 'VSZ', 'RSS', 'COMMAND']).text).toBe(
      lines('  PID %CPU    VSZ   RSS COMMAND', '31337 12.0 123456  9999 php  -S  localhost'),
    );
    const df = lines('Filesystem  Size Use% Mounted on', '/dev/vda    252G  22% /', 'tmpfs        24G   0% /run');
    expect(view(df, 1, 2, ['Mounted on', 'Use%']).text).toBe(
      lines('Mounted on Use%', '/           22%', '/run         0%'),
    );
    expect(view(DOCKER.split('\n')[0] ?? '').facts).toMatchObject({ rows: 0, columns: 7 });
    expect(view('id name\n').facts).toMatchObject({ rows: 0, columns: 2 });
    const free = lines('         total   used', 'Mem:     24105   1156', 'Swap:        0      0');
    expect(view(free, 2, 2, ['', 'used']).text).toBe(lines('         used', 'Swap:       0'));
    expect(view(lines('Active connections (only servers)', 'Proto  Local', 'tcp    :22'), 1, 1, ['Local'])).toEqual({
      text: lines('Local', ':22'),
      facts: { rows: 1, columns: 2, dialect: 'aligned', lines_before: 1 },
    });
  });

  it('never splits a value that is wider than its column', () => {
    const rows = Array.from({ length: 600 }, (_, i) => [`p${i}`.padEnd(8), `${i}  up`.padStart(10)].join(''));
    const table = lines('NAME       SIZE  STATE', ...rows, 'an-overlong-name-here 77  up', 'q     123456789  down');
    expect(
      view(table, 601, 602, ['SIZE'])
        .text.split('\n')
        .slice(1)
        .map((cell) => cell.trim()),
    ).toEqual(['77', '123456789', '']);
    expect(view(table, 601, 601, ['NAME']).text).toContain('\nan-overlong-name-here');
  });

  it('lists the columns if an unknown one is asked for', () => {
    expect(() => view(DOCKER, 1, 1, ['SIZE'])).toThrow(
      expect.objectContaining({
        code: 'VIEW_FAILED',
        remedy: expect.stringContaining('"CONTAINER ID", "IMAGE", "COMMAND"'),
        details: { column: 'SIZE', columns: expect.arrayContaining(['NAMES']) },
      }),
    );
  });

  it.each(['', '\n\n', 'hello\nworld\n', '{"a":1}'])('refuses %j', (text) => {
    expect(() => view(text)).toThrow(expect.objectContaining({ code: 'VIEW_FAILED' }));
  });

  it('returns every cell of random CSV', () => {
    const cell = fc.oneof(fc.constantFrom('', 'a', 'x,y', '"', 'l1\nl2', 'l\r\n', ';', '\t', '😀', ' b '), fc.string());
    const table = fc.tuple(
      fc
        .integer({ min: 2, max: 5 })
        .chain((width) =>
          fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 8 }),
        ),
      fc.constantFrom([',', 'csv'], [';', 'semicolons'], ['\t', 'tsv']),
      fc.constantFrom('\n', '\r\n'),
    );
    fc.assert(
      fc.property(table, fc.nat(), fc.nat(), ([rows, [delimiter, dialect], end], from, chosen) => {
        const width = rows[0]?.length ?? 0;
        const names = Array.from({ length: width }, (_, i) => `c${i}`);
        const records = [names, ...rows.map((row) => row.map((value) => `"${value.replaceAll('"', '""')}"`))];
        const text = records.map((record) => record.join(delimiter) + end).join('');
        expect(view(text)).toEqual({ text, facts: { rows: rows.length, columns: width, dialect } });
        const row = from % rows.length;
        const column = chosen % width;
        const expected = [`c${column}`, records[row + 1]?.[column]].map((value) => value + end).join('');
        expect(view(text, row + 1, row + 1, [`c${column}`]).text).toBe(expected);
      }),
    );
  });
});

describe('issue 30.1 rows of a text that is JSON', () => {
  const ITEMS = [
    { id: 1, name: 'a, "b"', tags: [1, 2, 3, 4] },
    { id: 2, name: 'c', tags: [] },
    { id: 3, name: 'd', tags: [] },
  ];
  const rows = (text: string, columns: string[] | null = null) => viewTextRows(text, { first: 2, last: 3, columns });
  it.each([
    ['compact', JSON.stringify(ITEMS)],
    ['indented', JSON.stringify(ITEMS, null, 2)],
    ['JSON Lines', lines(...ITEMS.map((item) => JSON.stringify(item)))],
    ['in an object', JSON.stringify({ total: 3, items: ITEMS.map(({ tags: _, ...item }) => item) })],
    ['with a byte order mark', `\ufeff${JSON.stringify(ITEMS)}\n`],
  ])('are its items: %s', (_how, text) => {
    expect(rows(text, ['id'])).toEqual({
      kind: 'text',
      text: '{"id":2}\n{"id":3}\n',
      facts: { rows: 3, dialect: 'json' },
      cut: 'head',
    });
  });

  it('are the numbers of an array', () => {
    expect(rows('[10,20,30]\n')).toMatchObject({ text: '20\n30\n', facts: { rows: 3, dialect: 'json' } });
    expect(rows('[\n  true,\n  null\n]')).toMatchObject({ text: 'null\n', facts: { rows: 2 } });
  });

  it('are never read as CSV, also if it breaks off', () => {
    expect(() => rows('[{"id":1,"a":2},\n{"id":2,"a":3},\n{"id":3,')).toThrow('not JSON');
    expect(() => rows('{\n"a":1,\n"b":2\n}')).toThrow('no array');
  });

  it('leaves a table that begins with a bracket a table', () => {
    expect(rows('[id],name\n1,a\n2,b\n3,c\n')).toMatchObject({ facts: { rows: 3, dialect: 'csv' } });
  });
});

it('issue 37: takes time that grows with a line alone, whether it is a table or not', () => {
  const attempt = (text: string): void => {
    try {
      view(text);
    } catch (thrown) {
      if (!String(thrown).includes('not a table')) throw thrown;
    }
  };
  for (const line of [' '.repeat(200_000), '\t'.repeat(200_000), '-'.repeat(200_000), ' -'.repeat(100_000)]) {
    const text = `${line}!\n`;
    // Microseconds for each character; where the time grew with the square, it was a hundred.
    expect(
      costOf(() => attempt(text), text.length, 10),
      JSON.stringify(text.slice(0, 10)),
    ).toBeLessThan(10);
  }
});
