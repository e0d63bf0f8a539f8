import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ENVELOPE_SCHEMA } from '../../helpers/answer-schema.ts';

it('DATA-2 is published in docs/envelope.schema.json', () => {
  const published = join(import.meta.dirname, '..', '..', '..', 'docs', 'envelope.schema.json');
  expect(JSON.parse(readFileSync(published, 'utf8'))).toEqual(JSON.parse(JSON.stringify(ENVELOPE_SCHEMA)));
});
