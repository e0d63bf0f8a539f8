import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeGrants } from '#src/catalog/describe-grants.js';
import { accessOf } from '#src/catalog/grants.js';
import { parseManifest } from '#src/catalog/manifest.js';
import { GRANTS } from '#src/core/profile.js';

const GOOD = { name: 'hello', purpose: 'says hello', version: '1.0.0', min_isolation: 'reduced' };

function manifest(own: object) {
  return parseManifest('tool.json', JSON.stringify({ ...GOOD, grants: [], ...own }));
}

function faultOf(grant: unknown): string {
  try {
    manifest({ grants: [grant] });
    return '';
  } catch (thrown) {
    return String(Object(thrown).details?.faults);
  }
}

describe('what a person is asked before a tool may use it', () => {
  it('says each grant in plain words, in the order of the manifest', () => {
    const grants = ['network:api.example.com', 'path:/srv/data', 'path:/srv/out:rw', 'env:CITY_API', 'network:npm'];
    expect(describeGrants(manifest({ grants, limits: { memory_mb: 4096, pids: 513 } }))).toEqual([
      'reach api.example.com over the network',
      'read /srv/data and everything in it',
      'read and change /srv/out and everything in it',
      'see the variable CITY_API, as tools.env of the configuration sets it',
      'reach the hosts of the group npm',
      'use up to 4096 MiB of memory (usual: 2048)',
      'run up to 513 processes and threads (usual: 512)',
    ]);
    for (const grant of GRANTS) expect(describeGrants(manifest({ grants: [grant] }))[0]).toMatch(/^[a-z ,]+$/);
  });

  it('asks for limits above the usual ones only, which become grants', () => {
    expect(manifest({ limits: { memory_mb: 2048, pids: 512, cpus: 64, timeout_ms: 300_000 } }).grants).toEqual([]);
    expect(manifest({ limits: { memory_mb: 2049 }, grants: ['exec'] }).grants).toEqual([
      'exec',
      'limits:memory_mb=2049',
    ]);
    const slow = manifest({ limits: { timeout_ms: 600_000 } });
    expect(slow.grants).toEqual(['limits:timeout_ms=600000']);
    expect(describeGrants(slow)).toEqual(['run up to 600 s a call (usual: 300)']);
    expect(faultOf('limits:memory_mb=2049')).toContain('ask for resources in "limits"');
  });

  it('SEC-2.1 takes absolute, plain paths only', () => {
    const wrong = [
      '',
      '/',
      'srv',
      './srv',
      '/srv/',
      '/srv/../etc',
      '/srv//data',
      '/srv/./x',
      '/a:b',
      '/a:rw:rw',
      '~/x',
    ];
    for (const path of [...wrong, '/line\nbreak', '/srv/\u202eatad', '/srv\u200b', `/${'x'.repeat(1_024)}`, '/nul\0'])
      expect(faultOf(`path:${path}`)).toContain('write an absolute path');
    expect(faultOf('path:/srv/data')).toBe('');
    expect(() => manifest({ grants: ['path:/srv', 'path:/srv:rw'] })).toThrowError('names a grant twice');
  });

  it('SEC-2.1 takes only variables that steer nothing', () => {
    for (const name of ['PATH', 'LD_PRELOAD', 'NODE_OPTIONS', 'HTTPS_PROXY', 'PLUGIN_X', 'CONTEXTD_PLUGIN', 'GIT_DIR'])
      expect(faultOf(`env:${name}`)).toContain('steers');
    for (const name of ['', 'a b', 'A=B', '1A'])
      expect(faultOf(`env:${name}`)).toContain('is not the name of a variable');
    for (const name of ['CITY_API', 'NODE_AUTH_TOKEN']) expect(faultOf(`env:${name}`)).toBe('');
  });

  it('reads back what was accepted, whatever the names are', () => {
    const part = fc.stringMatching(/^[A-Za-z0-9_. -]{1,12}$/).filter((text) => !/^\.{1,2}$/.test(text));
    const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => `/${parts.join('/')}`);
    fc.assert(
      fc.property(
        fc.uniqueArray(path, { maxLength: 4 }),
        fc.boolean(),
        fc.integer({ min: 2049, max: 9_999 }),
        (...all) => {
          const [paths, isWritable, memory] = all;
          const { grants } = manifest({
            grants: [...paths.map((one) => `path:${one}${isWritable ? ':rw' : ''}`), 'env:CITY_API', 'exec'],
            limits: { memory_mb: memory },
          });
          expect(accessOf(grants)).toEqual({
            paths: paths.map((one) => ({ path: one, isWritable })),
            variables: ['CITY_API'],
            limits: { memory_mb: memory },
          });
        },
      ),
    );
  });
});
