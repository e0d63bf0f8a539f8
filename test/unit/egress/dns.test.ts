import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerQuestion, DNS_TYPE_A, type DnsQuestion, readQuestion, refuseQuestion } from '#src/egress/dns.js';
import { SyntheticNames } from '#src/egress/synthetic-names.js';
import { dnsQuery } from '../../helpers/dns-query.js';

function read(query: Buffer): DnsQuestion {
  const question = readQuestion(query);
  if (question === null) throw new Error('the question was not read');
  return question;
}

describe('a question of the local DNS', () => {
  it('is read, with what an extended query appends', () => {
    const query = Buffer.concat([
      dnsQuery('registry.example.com', 1, 7),
      Buffer.from([0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0]),
    ]);
    query[11] = 1;
    expect(read(query)).toMatchObject({
      id: 7,
      name: 'registry.example.com',
      type: DNS_TYPE_A,
      isRecursionDesired: true,
    });
  });

  it('is answered with its own bytes, the address and no recursion elsewhere', () => {
    const query = dnsQuery('a.example', 1, 0x1234);
    const answer = answerQuestion(read(query), '127.64.0.9');
    expect(answer.subarray(0, 12).toString('hex')).toBe('123485800001000100000000');
    expect(answer.subarray(12, query.length)).toEqual(query.subarray(12));
    expect(answer.subarray(-6).toString('hex')).toBe('00047f400009');
  });

  it('may get no data, or the word that the name does not exist', () => {
    const question = read(dnsQuery('a.example', 28, 1));
    expect(answerQuestion(question, null).readUInt16BE(6)).toBe(0);
    expect(answerQuestion(question, null).readUInt16BE(2) & 15).toBe(0);
    expect(refuseQuestion(question).readUInt16BE(2) & 15).toBe(3);
  });

  it('with a dot inside a label never means the name with two labels', () => {
    const query = dnsQuery('XXXX.example', 1, 1);
    query.write('ev.l', 13, 'latin1');
    expect(read(query).name).toBe('ev/l.example');
  });

  const UNREAD: [string, (query: Buffer) => Buffer][] = [
    ['is a response', (query) => set(query, 2, 0x81)],
    ['is an update', (query) => set(query, 2, 0x28)],
    ['asks two questions', (query) => set(query, 5, 2)],
    ['is of another class', (query) => set(query, query.length - 1, 3)],
    ['points elsewhere', (query) => set(query, 12, 0xc0)],
    ['is cut', (query) => query.subarray(0, -1)],
    ['is cut in its name', (query) => query.subarray(0, 18)],
    ['is empty', () => Buffer.alloc(0)],
    ['has a name that is too long', () => dnsQuery(Array(130).fill('a').join('.'), 1, 1)],
  ];
  for (const [title, change] of UNREAD)
    it(`is not read if it ${title}`, () => {
      expect(readQuestion(change(dnsQuery('a.example', 1, 1)))).toBeNull();
    });

  it('is read or not, and never throws', () => {
    const query = dnsQuery('some.name.example', 1, 1);
    const mutated = fc.array(fc.tuple(fc.nat(query.length - 1), fc.nat(255)), { maxLength: 6 }).map((changes) => {
      const bytes = Buffer.from(query);
      for (const [at, value] of changes) bytes[at] = value;
      return bytes;
    });
    fc.assert(
      fc.property(
        fc.oneof(
          mutated,
          fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
        ),
        (bytes) => {
          const question = readQuestion(bytes);
          if (question !== null) answerQuestion(question, '127.64.0.1');
        },
      ),
    );
  });
});

function set(query: Buffer, at: number, value: number): Buffer {
  query[at] = value;
  return query;
}

describe('the addresses of names', () => {
  it('are one for each name, in 127.64.0.0/10', () => {
    const names = new SyntheticNames(10);
    const address = names.addressOf('a.example');
    expect(address).toBe('127.64.0.1');
    expect(names.addressOf('a.example')).toBe(address);
    expect(names.addressOf('b.example')).not.toBe(address);
    expect(names.nameOf(address)).toBe('a.example');
    expect(names.nameOf('127.64.0.99')).toBeNull();
  });

  it('are bounded: the name that was used longest ago loses its address, which stands for nothing then', () => {
    const names = new SyntheticNames(3);
    const [a, b] = ['a', 'b', 'c'].map((name) => names.addressOf(name));
    names.addressOf('a');
    names.addressOf('d');
    expect(names.nameOf(b ?? '')).toBeNull();
    expect(names.nameOf(a ?? '')).toBe('a');
    expect(names.addressOf('b')).not.toBe(b);
    for (let n = 0; n < 1_000; n += 1) names.addressOf(`n${n}`);
    expect(names.nameOf(a ?? '')).toBeNull();
    expect(names.addressOf('last')).toBe('127.64.3.238');
  });
});
