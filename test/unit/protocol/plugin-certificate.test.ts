import { X509Certificate } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bitString,
  createCertificate,
  integer,
  octetString,
  sequence,
  time,
  toPem,
} from '#src/protocol/plugin/certificate.js';

const NOW = Date.UTC(2031, 1, 3, 4, 5, 6);

describe('the certificate of one side', () => {
  const made = createCertificate(NOW);
  const parsed = new X509Certificate(made.der);

  it('is read as it was written', () => {
    expect(parsed.subject).toBe('O=contextd\nCN=localhost');
    expect(parsed.issuer).toBe(parsed.subject);
    expect(parsed.subjectAltName).toBe('DNS:localhost');
    expect(parsed.ca).toBe(true);
    expect(parsed.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2', '1.3.6.1.5.5.7.3.1']);
    expect(parsed.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
    expect(parsed.serialNumber).toMatch(/^[4-7][0-9A-F]{31}$/);
  });

  it('is valid from a minute ago for ten years', () => {
    expect(new Date(parsed.validFrom).getTime()).toBe(NOW - 60_000);
    expect(new Date(parsed.validTo).getTime()).toBe(NOW + 3_650 * 24 * 3_600_000);
  });

  it('is signed by its own key', () => {
    expect(parsed.verify(parsed.publicKey)).toBe(true);
    expect(parsed.checkIssued(parsed)).toBe(true);
    expect(parsed.verify(new X509Certificate(createCertificate(NOW).der).publicKey)).toBe(false);
  });

  it('is the same in PEM and DER, in canonical form', () => {
    expect(toPem(made.der)).toBe(made.certificate);
    expect(parsed.raw).toEqual(made.der);
  });

  it('has the right dates before and after 2050, where the encoding changes', () => {
    for (const year of [2026, 2049, 2050, 2060]) {
      const now = Date.UTC(year, 11, 31, 23, 59, 59);
      expect(new Date(new X509Certificate(createCertificate(now).der).validFrom).getTime()).toBe(now - 60_000);
    }
  });
});

describe('DER', () => {
  it('writes lengths in the shortest form', () => {
    const header = (length: number) => octetString(Buffer.alloc(length)).subarray(0, -length).toString('hex');
    expect([1, 127, 128, 255, 256, 65_536].map(header)).toEqual([
      '0401',
      '047f',
      '048180',
      '0481ff',
      '04820100',
      '0483010000',
    ]);
  });

  it('writes integers as the shortest positive number', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), (bytes) => {
        const written = integer(bytes).subarray(2);
        expect(BigInt(`0x${written.toString('hex')}`)).toBe(BigInt(`0x${Buffer.from(bytes).toString('hex')}`));
        expect(written.readUInt8(0)).toBeLessThan(0x80);
        if (written.length > 1 && written[0] === 0) expect(written.readUInt8(1)).toBeGreaterThanOrEqual(0x80);
      }),
    );
  });

  it('writes the other types', () => {
    expect(bitString(Buffer.from([0x84]), 2).toString('hex')).toBe('03020284');
    expect(sequence().toString('hex')).toBe('3000');
    expect(time(new Date(NOW)).subarray(2).toString()).toBe('310203040506Z');
    expect(
      time(new Date(Date.UTC(2050, 0, 1)))
        .subarray(2)
        .toString(),
    ).toBe('20500101000000Z');
  });
});
