import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { indexWords, matchExpression, queryWords } from '#src/features/memory/query.js';

describe('the words of a text', () => {
  it.each([
    ['getUserById', ['get', 'user', 'by', 'id', 'getuserbyid']],
    ['get_user_by_id', ['get', 'user', 'by', 'id', 'getuserbyid']],
    ['parseHTTPResponse2', ['parse', 'http', 'response2', 'parsehttpresponse2']],
    ['src/memory/query.ts', ['src', 'memory', 'query', 'ts']],
    ['ECONNREFUSED 127.0.0.1:5432', ['econnrefused', '127', '0', '0', '1', '5432']],
    ['ﬁle Straße', ['file', 'straße']],
    ['東京都', ['東', '京', '都', '東京', '京都']],
    ['テストrunner', ['テ', 'ス', 'ト', 'テス', 'スト', 'runner']],
    ['', []],
    ['"" OR * ( NEAR', ['or', 'near']],
  ])('issue 18 splits %j by case, punctuation and script', (text, words) => {
    expect(indexWords(text)).toEqual(words);
  });

  it('issue 18 are the same for a word in any case, however long', () => {
    const letters = fc.stringMatching(/^[a-z]{1,70}$/);
    fc.assert(
      fc.property(fc.array(letters), (words) => {
        const text = words.join(' ');
        expect(indexWords(text)).toEqual(words.map((word) => word.slice(0, 64)));
        expect(indexWords(text.toUpperCase())).toEqual(indexWords(text));
      }),
    );
  });

  it('issue 18 searches without stop words, unless there are no others, and each word once', () => {
    expect(queryWords('How do I run the migration for the migration?')).toEqual(['run', 'migration']);
    expect(queryWords('to be or not to be')).toEqual(['to', 'be', 'or', 'not']);
    expect(queryWords('東京')).toEqual(['東京']);
  });

  it('issue 18 looks at a bounded part of a query of a megabyte', () => {
    const words = queryWords(Array.from({ length: 200_000 }, (_, i) => `w${i}`).join(' '));
    expect(words.length).toBeLessThanOrEqual(48);
    expect(queryWords('x'.repeat(1_000_000))[0]?.length).toBeLessThanOrEqual(64);
  });
});

it('issue 18 any text is a valid query for FTS5', () => {
  const database = new DatabaseSync(':memory:');
  database.exec(`CREATE VIRTUAL TABLE t USING fts5 (a, tokenize = 'porter unicode61 remove_diacritics 2')`);
  const search = database.prepare('SELECT rowid FROM t WHERE t MATCH ?');
  const hostile = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.array(
      fc.constantFrom('"', "'", '*', '^', '(', ')', '+', '-', ':', '{', '}', 'NEAR', 'AND', 'OR', 'NOT', '\0', 'a'),
    ),
  );
  fc.assert(
    fc.property(hostile, (text) => {
      const words = queryWords(typeof text === 'string' ? text : text.join(' '));
      if (words.length > 0) search.all(matchExpression(words));
    }),
  );
  database.close();
});
