import { expect, it } from 'vitest';
import type { JsonObject } from '#src/core/json.js';
import { withheldLine } from '#src/text/withheld.js';
import { readView, VIEW_NAMES } from '#src/tokens/views/read-view.js';
import { renderView } from '#src/tokens/views/render-view.js';

const GIVEN: Readonly<Record<string, JsonObject>> = {
  grep: { grep: 'FAIL' },
  lines: { lines: '2-3' },
  bytes: { bytes: '4-9' },
  json_path: { json_path: '$.a' },
};

it.each(VIEW_NAMES)('issue 30: the view %s of an output that was withheld says so', (name) => {
  for (const sha256 of [null, 'a'.repeat(64)]) {
    const text = withheldLine({ kind: 'binary data', bytes: 5000, sha256 });
    const view = readView(GIVEN[name] ?? name);
    const streams = [{ field: 'stdout', text }];
    const { streams: shown } = renderView({ view, streams, failed: false, earlier: streams, digestChars: 100 });
    expect(shown.map((one) => one.text)).toEqual([text]);
  }
});
