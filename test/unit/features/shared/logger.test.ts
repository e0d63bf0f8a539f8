import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ContextdError } from '#src/core/errors.js';
import { createFileSink } from '#src/core/log-file.js';
import { createLogger, type LoggerDeps } from '#src/features/shared/logger.js';
import { propertyRuns } from '../../../helpers/property-runs.ts';

function logger(deps: Partial<LoggerDeps> = {}) {
  const lines: string[] = [];
  const sink = { write: (line: string) => void lines.push(line) };
  const mask = (text: string): string => text.replaceAll('swordfish', '[SECRET]');
  return { lines, log: createLogger({ level: 'info', sink, mask, ...deps }) };
}

const LIMITS = { maxBytes: 8 * 1024 * 1024, keptFiles: 1 };

describe('the log', () => {
  it('is one JSON object per line: level, time, event, then the fields', () => {
    const { lines, log } = logger();
    log.info('call.finished', {
      request_id: 'req_1',
      ms: 3,
      cut: false,
      none: null,
      rules: ['a', 'b'],
      absent: undefined,
    });
    expect(lines).toHaveLength(1);
    expect(lines[0]?.endsWith('}\n')).toBe(true);
    const record = JSON.parse(lines[0] ?? '');
    expect(Object.keys(record)).toEqual(['level', 'time', 'event', 'request_id', 'ms', 'cut', 'none', 'rules']);
    expect(record).toMatchObject({ level: 'info', event: 'call.finished', ms: 3, rules: ['a', 'b'] });
    expect(new Date(record.time).toISOString()).toBe(record.time);
  });

  it('SEC-1.1 masks every string, including strings in lists and causes', () => {
    const { lines, log } = logger();
    const cause = new ContextdError('CONFLICT', 'outer swordfish', { cause: new Error('inner swordfish') });
    log.error('x.failed', { text: 'a swordfish', list: ['swordfish b'] }, cause);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      text: 'a [SECRET]',
      list: ['[SECRET] b'],
      cause: ['ContextdError CONFLICT: outer [SECRET]', 'Error: inner [SECRET]'],
    });
  });

  it('never holds a stack trace', () => {
    const { lines, log } = logger();
    log.error('x.failed', {}, new TypeError('boom'));
    log.error('y.failed', {}, 'no error at all');
    expect(lines.join('')).not.toMatch(/\n\s+at |stack|\.test\.ts/);
    expect(JSON.parse(lines[1] ?? '').cause).toEqual(['thrown: no error at all']);
  });

  it('withholds text that cannot be masked', () => {
    const mask = (): string => {
      throw new Error('no rules');
    };
    const { lines, log } = logger({ mask });
    log.warn('x', { text: 'swordfish', n: 1 });
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ n: 1, text: expect.stringContaining('withheld') });
    expect(lines[0]).not.toContain('swordfish');
  });

  it('leaves out lines below its level without masking them', () => {
    let masked = 0;
    const mask = (text: string): string => {
      masked += 1;
      return text;
    };
    const { lines, log } = logger({ level: 'warn', mask });
    log.debug('a', { text: 't' });
    log.info('b', { text: 't' });
    log.warn('c', { text: 't' });
    expect(lines.map((line) => JSON.parse(line).event)).toEqual(['c']);
    expect(masked).toBe(1);
  });

  it('stays one line, whatever the text', () => {
    const { lines, log } = logger();
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        log.info('event', { text });
        const line = lines.at(-1) ?? '';
        expect(line.indexOf('\n')).toBe(line.length - 1);
        expect(Buffer.from(JSON.parse(line).text)).toEqual(Buffer.from(text));
      }),
    );
  });

  it('stops at an error that is its own cause', () => {
    const { lines, log } = logger();
    const error = new Error('round');
    error.cause = error;
    log.error('x', {}, error);
    expect(JSON.parse(lines[0] ?? '').cause).toHaveLength(4);
  });
});

describe('the log file', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'log-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it('has mode 0600, even if it was wider before', () => {
    const file = join(dir, 'daemon.log');
    createFileSink(file, LIMITS).write('one\n');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    chmodSync(file, 0o644);
    createFileSink(file, LIMITS).write('two\n');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toBe('one\ntwo\n');
  });

  it('starts again at its limit, and one older file is kept', () => {
    const file = join(dir, 'daemon.log');
    writeFileSync(file, 'from before, long enough\n');
    const sink = createFileSink(file, { maxBytes: 20, keptFiles: 1 });
    sink.own();
    sink.write('1234567890\n');
    sink.write('abcdefghij\n');
    expect(readFileSync(`${file}.1`, 'utf8')).toBe('from before, long enough\n');
    sink.write('next\n');
    expect(readFileSync(`${file}.1`, 'utf8')).toBe('1234567890\nabcdefghij\n');
    expect(readFileSync(file, 'utf8')).toBe('next\n');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(existsSync(`${file}.2`)).toBe(false);
  });

  it('keeps as many older files as it has to, and no others from before', () => {
    const file = join(dir, 'daemon.log');
    for (const number of [1, 2, 3, 4]) writeFileSync(`${file}.${number}`, `old ${number}`);
    const sink = createFileSink(file, { maxBytes: 1, keptFiles: 2 });
    sink.own();
    for (const text of ['a\n', 'b\n', 'c\n', 'd\n']) sink.write(text);
    const read = (suffix: string): string => readFileSync(`${file}${suffix}`, 'utf8');
    expect([read(''), read('.1'), read('.2')]).toEqual(['d\n', 'c\n', 'b\n']);
    expect(readdirSync(dir)).toHaveLength(3);
    const only = createFileSink(file, { maxBytes: 1, keptFiles: 0 });
    only.own();
    only.write('e\n');
    expect(readdirSync(dir)).toEqual(['daemon.log']);
    expect(read('')).toBe('e\n');
  });

  it('never throws, even if its directory is missing', () => {
    const file = join(dir, 'daemon.log');
    const sink = createFileSink(file, { maxBytes: 1, keptFiles: 1 });
    sink.own();
    rmSync(dir, { recursive: true });
    sink.write('x\n');
    sink.write('y\n');
    expect(existsSync(file)).toBe(false);
  });

  it('NFR-2.3: has every line of three daemons that replace each other and write to the end, in order', () => {
    const run = fc.array(fc.tuple(fc.nat(2), fc.boolean()), { minLength: 1, maxLength: 60 });
    let number = 0;
    const check = (steps: readonly (readonly [number, boolean])[]): void => {
      number += 1;
      const file = join(dir, `${number}.log`);
      // Old files are as many as lines: none is removed by its age.
      const sinks = [0, 1, 2].map(() => createFileSink(file, { maxBytes: 20, keptFiles: steps.length }));
      let owner = 0;
      sinks[owner]?.own();
      for (const [position, [writer, isReplaced]] of steps.entries()) {
        sinks[writer]?.write(`line ${position}\n`);
        if (!isReplaced || owner === 2) continue;
        sinks[owner]?.follow();
        owner += 1;
        sinks[owner]?.own();
      }
      const older = readdirSync(dir).filter((name) => name.startsWith(`${number}.log.`)).length;
      const files = [...Array.from({ length: older }, (_, i) => `${file}.${older - i}`), file];
      const written = files.map((name) => readFileSync(name, 'utf8')).join('');
      expect(written).toBe(steps.map((_, position) => `line ${position}\n`).join(''));
    };
    fc.assert(fc.property(run, check), { numRuns: propertyRuns('slow') });
  });
});
