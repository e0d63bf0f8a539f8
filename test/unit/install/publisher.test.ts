import { describe, expect, it } from 'vitest';
import { publisherOf } from '#src/install/publisher.js';

const SUM = 'ab'.repeat(32);

describe('issue 17 part 7: versions of one tool come from one publisher', () => {
  it.each([
    ['github.com/org/tool@v1', 'github.com/org/tool@v2'],
    ['github.com/org/tool@v1', 'https://github.com/Org/tool/releases/download/v2/tool.tgz'],
    ['gitlab.com/a/b/tool', 'https://gitlab.com/a/b/tool/-/archive/v1/tool-v1.tar.gz'],
    ['git::https://example.com/a/b.git//x@v1', 'git::https://example.com/a/b.git//x@v2'],
    ['https://example.com/tool/v1.2.0/tool.tgz', `https://example.com/tool/2.0-beta/tool.tgz?checksum=sha256:${SUM}`],
    ['https://example.com/tools/tool-1.tgz', 'https://example.com/tools/tool-2.zip'],
    ['s3::bucket/team/v1/tool.tgz', 's3::bucket/team/v2/tool.tgz'],
    ['/srv/tool', '/srv/tool'],
    ['/srv/tool-1.tgz', '/srv/tool-2.tgz'],
  ])('%s and %s are from one', (one, other) => {
    expect(publisherOf(one)).toBe(publisherOf(other));
  });

  it.each([
    ['github.com/org/tool@v1', 'github.com/other/tool@v1'],
    ['github.com/org/tool//a', 'github.com/org/tool//b'],
    [
      'https://github.com/org/tool/releases/download/v1/t.tgz',
      'https://github.com/evil/tool/releases/download/v1/t.tgz',
    ],
    ['https://gitlab.com/a/b/-/archive/v1/b.tgz', 'https://gitlab.com/a/c/-/archive/v1/b.tgz'],
    ['https://example.com/~me/tool.tgz', 'https://example.com/~you/tool.tgz'],
    ['https://example.com/users/17/tool.tgz', 'https://example.com/users/18/tool.tgz'],
    ['https://example.com/tool.tgz', 'https://example.org/tool.tgz'],
    ['https://example.com/tool.tgz', 'https://example.com:8443/tool.tgz'],
    ['s3::bucket/me/tool.tgz', 's3::bucket/you/tool.tgz'],
    ['s3::bucket/tool.tgz', 's3::https://s3.example.com/bucket/tool.tgz'],
    ['s3::bucket/tool.tgz', 'https://bucket/tool.tgz'],
    ['/srv/tool', '/tmp/tool'],
    ['/srv/tool.tgz', '/tmp/tool.tgz'],
    ['/srv/tool', 'git::file:///srv/tool'],
  ])('%s and %s are from two', (one, other) => {
    expect(publisherOf(one)).not.toBe(publisherOf(other));
  });
});
