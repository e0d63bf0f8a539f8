import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EXPORT_FORMATS, exporterOf } from '#src/audit/export.js';
import { type AuditRecord, NO_END, parseRecord } from '#src/audit/record.js';

const HOSTILE = fc.string({
  unit: fc.oneof(
    fc.integer({ min: 0, max: 0xa0 }).map((code) => String.fromCharCode(code)),
    fc.constantFrom('\u061c', '\u200e', '\u200f', '\u202a', '\u202e', '\u2066', '\u2069', '\u2028', '\u2029', '\ufeff'),
    fc.constantFrom('=', '+', '-', '@', '\uff1d', '\uff0b', '\uff0d', '\uff20', ' ', '\t', '\r', '\n', '"', ',', '\\'),
    fc.string({ unit: 'binary', maxLength: 1 }),
  ),
  maxLength: 12,
});
/** But the tabs and line feeds that a cell may have. */
const OBEYED = /(?![\t\n])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

function logged(text: string, input: AuditRecord['input'] = text) {
  const call = { request_id: 'req_1', session: text, project: text, door: 'grpc', tool: text, input };
  const record: AuditRecord = { ...NO_END, time: '2026-01-31T12:00:00.000Z', ...call };
  return { record, line: JSON.stringify(record) };
}

describe('an export of the audit log', () => {
  it.each(EXPORT_FORMATS)('SEC-5.3 has no character that a terminal or an editor obeys: %s', (format) => {
    fc.assert(
      fc.property(HOSTILE, (text) => {
        const written = exporterOf(format, '0.1.0')
          .write(logged(text))
          .replace(/\r?\n$/, '');
        expect(OBEYED.exec(written)?.[0]).toBeUndefined();
      }),
    );
  });

  it('SEC-5.3 has the values of the log', () => {
    fc.assert(
      fc.property(HOSTILE, (text) => {
        const { record, line } = logged(text);
        expect(JSON.parse(exporterOf('jsonl', '').write({ record, line }))).toEqual(JSON.parse(line));
        expect(JSON.parse(exporterOf('ocsf', '').write({ record, line }))).toMatchObject({ api: { operation: text } });
      }),
    );
  });

  it('SEC-5.3 is JSON also of a line that only looks like one of the log', () => {
    const line = logged('x').line.replace(',', '\t,\r ');
    const record = parseRecord({ bytes: Buffer.from(line), isTorn: false });
    if (record === null) throw new Error('not a record');
    expect(JSON.parse(exporterOf('jsonl', '').write({ record, line }))).toEqual(JSON.parse(line));
  });

  it('SEC-5.3 has no cell that a spreadsheet takes for a formula', () => {
    fc.assert(
      fc.property(HOSTILE, fc.constantFrom('=', '+', '-', '@', '\uff1d'), (text, sign) => {
        for (const shown of [text, `${sign}1+1`, ` ${sign}1+1`, `\n${sign}1`, `\ufeff${sign}1`, `\u00a0${sign}1`]) {
          const cells = cellsOf(exporterOf('csv', '').write(logged(shown)));
          expect(cells).toHaveLength(16);
          for (const cell of cells.filter((one) => Number.isNaN(Number(one))))
            expect(cell.replace(/^[\s\p{Cf}]+/u, '')).not.toMatch(/^[=+\-@\uff1d\uff0b\uff0d\uff20]/);
          for (const cell of cells) expect(cell).not.toMatch(/^[\t\r\n]/);
        }
      }),
    );
  });
});

/** The cells of a line of CSV (RFC 4180). */
function cellsOf(line: string): string[] {
  const cells = [...line.replace(/\r\n$/, '').matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)];
  return cells.map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain);
}
