import { describe, expect, it } from 'vitest';
import { findColumns } from '#src/scrub/hardened/columns.js';

const found = (text: string): string[] => findColumns(text).map(({ start, end }) => text.slice(start, end));

describe('SEC-1.1 values in a column named like a secret', () => {
  it.each([
    ['commas', 'id,password,name\n1,hunter2a,me\n2,"with,comma9",you\n', ['hunter2a', 'with,comma9']],
    ['semicolons', 'user;api_key\nme;ab12cd34ef\n', ['ab12cd34ef']],
    ['tabs', 'user\tdb_password\r\nme\tsunflower\r\n', ['sunflower']],
    [
      'bars',
      ' user | password\n------+----------\n me   | sunflower\n you  | correct1\n(2 rows)\n',
      ['sunflower', 'correct1'],
    ],
    [
      'a table of MySQL',
      '+----+----------+\n| id | password |\n+----+----------+\n|  1 | sunflower |\n+----+----------+\n',
      ['sunflower'],
    ],
    ['a table of Markdown', '| user | token |\n|---|---|\n| me | ab12cd34ef |\n', ['ab12cd34ef']],
    ['two columns', 'password,n,secret\nhunter2a,1,ab12cd34ef\n', ['hunter2a', 'ab12cd34ef']],
  ])('are found: %s', (_, text, values) => expect(found(text)).toEqual(values));

  it.each([
    ['the table has ended', 'id,password\n1,hunter2a\n\nthe next,hunter3b\n', ['hunter2a']],
    ['a cell has no value', 'id,password\n1,\n2,NULL\n3,****\n4,<hidden>\n5,a b c d\n', []],
    ['a token is only a word', 'id,token\n1,identifier\n', []],
    ['it is a list in code', "'secret',\n'sha256sum',\n'security2',\n", []],
    ['it is prose', 'user, password, token\none, two22, three33\n', []],
    ['it is code', 'f(user,password)\nf(me12,hunter2a)\n', []],
    ['the name is a part of a name', 'id,password_length,keyboard\n1,12345678,abcd1234\n', []],
  ])('are not found if %s', (_, text, values) => expect(found(text)).toEqual(values));

  it('takes time linear in the text', () => {
    const text = `id,password\n${'1,a\n'.repeat(200_000)}${'token,'.repeat(100_000)}\n`;
    expect(found(text)).toEqual([]);
  });
});
