import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ENVELOPE_SCHEMA } from '../../helpers/answer-schema.ts';

it('DATA-2 is published in docs/envelope.schema.json, which `vitest -u` writes', async () => {
  const published = join(import.meta.dirname, '..', '..', '..', 'docs', 'envelope.schema.json');
  await expect(`${JSON.stringify(ENVELOPE_SCHEMA, null, 2)}\n`).toMatchFileSnapshot(published);
});
