import { describe, expect, it } from 'vitest';
import { KnownFiles } from '#src/guard/index/known-files.js';

describe('the known files of directories', () => {
  it('are the names that were set last, for the same version of the index only', () => {
    const known = new KnownFiles();
    known.set('/w/a', 1, ['old']);
    known.set('/w/a', 2, ['\u00ff', 'two words', '\n']);
    known.set('/w/empty', 2, []);
    expect(known.get('/w/a', 2)).toEqual(['\u00ff', 'two words', '\n']);
    expect(known.get('/w/empty', 2)).toEqual([]);
    expect(known.get('/w/a', 1)).toBeNull();
    known.forget('/w/a');
    expect(known.get('/w/a', 2)).toBeNull();
  });

  it('have a bound, and what is forgotten makes room', () => {
    const known = new KnownFiles();
    const half = ['x'.repeat(2 * 1024 * 1024)];
    for (const dir of ['/a', '/b', '/c']) known.set(dir, 1, half);
    expect(['/a', '/b', '/c'].map((dir) => known.get(dir, 1) !== null)).toEqual([true, true, false]);
    known.forget('/a');
    known.set('/c', 1, half);
    expect(known.get('/c', 1)).toEqual(half);
  });
});
