import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FETCH_LIMITS } from '#src/install/limits.js';
import { createAuthority } from '../helpers/authority.ts';
import { buildGoPrograms } from '../helpers/build-go-programs.ts';
import { FetchPlace } from '../helpers/fetch-into.ts';
import { tarOf } from '../helpers/hostile-archives.ts';

const programs = buildGoPrograms('s3-server');
const place = new FetchPlace();
const TAR = tarOf([{ path: 'tool/tool.json', body: '{}' }]);
const KEY = 'reader';
const ca = join(place.dir, 'ca.pem');
const login = { AWS_ACCESS_KEY_ID: KEY, AWS_SECRET_ACCESS_KEY: 'open-sesame' };
const credentials = { NODE_EXTRA_CA_CERTS: ca, ...login };

let server: ChildProcess;
let endpoint: string;

beforeAll(async () => {
  if (programs.missing !== null) return;
  const authority = await createAuthority('S3 of a test');
  const { key, cert } = await authority.issue('localhost');
  writeFileSync(ca, authority.pem);
  const files = { cert: join(place.dir, 'cert.pem'), key: join(place.dir, 'key.pem') };
  writeFileSync(files.cert, cert);
  writeFileSync(files.key, key, { mode: 0o600 });
  server = spawn(join(programs.dir, 's3-server'), [files.cert, files.key, KEY], { stdio: ['pipe', 'pipe', 'inherit'] });
  const port = await new Promise<string>((resolve) =>
    server.stdout?.once('data', (text) => resolve(String(text).trim())),
  );
  endpoint = `https://localhost:${port}`;
  const client = new S3Client({
    endpoint,
    forcePathStyle: true,
    region: 'us-east-1',
    credentials: { accessKeyId: KEY, secretAccessKey: 'open-sesame' },
    requestHandler: { httpsAgent: new Agent({ ca: authority.pem }) },
  });
  await client.send(new CreateBucketCommand({ Bucket: 'tools' }));
  await client.send(new PutObjectCommand({ Bucket: 'tools', Key: 'a/b/tool.tgz', Body: TAR }));
  await client.send(new PutObjectCommand({ Bucket: 'tools', Key: 'large.tgz', Body: Buffer.alloc(2_000_000) }));
  client.destroy();
});

afterAll(async () => {
  server?.kill('SIGKILL');
  place.remove();
  programs.remove();
});

describe.skipIf(programs.missing !== null)('issue 17 part 1: a tool from an S3-compatible server (gofakes3)', () => {
  it('s3::https://endpoint/bucket/key arrives with the access key of the environment', async () => {
    const source = `s3::${endpoint}/tools/a/b/tool.tgz`;
    const { tool, files, error, left } = await place.fetch(source, { credentials });
    expect(error).toBeNull();
    expect(files).toEqual({ 'tool.json': '{}' });
    expect(tool?.resolved.source).toBe(source);
    expect(left).toEqual(['tool']);
  });

  it('the profile that the person chose gives the access key, and its region counts', async () => {
    const home = join(place.dir, 'profile');
    mkdirSync(join(home, '.aws'), { recursive: true });
    writeFileSync(
      join(home, '.aws/credentials'),
      `[team]\naws_access_key_id = ${KEY}\naws_secret_access_key = open-sesame\n`,
    );
    writeFileSync(join(home, '.aws/config'), '[profile team]\nregion = eu-north-1\n');
    const settings = { NODE_EXTRA_CA_CERTS: ca, HOME: home, AWS_PROFILE: 'team' };
    const { files, error } = await place.fetch(`s3::${endpoint}/tools/a/b/tool.tgz`, { credentials: settings });
    expect(error).toBeNull();
    expect(files).toEqual({ 'tool.json': '{}' });
  });

  const small = { ...FETCH_LIMITS, bytes: 1_000_000 };
  const cases: [name: string, key: string, code: string, more: object][] = [
    ['no such key', 'tools/missing.tgz', 'NOT_FOUND', {}],
    ['no such bucket', 'nowhere/tool.tgz', 'NOT_FOUND', {}],
    [
      'an unknown access key',
      'tools/a/b/tool.tgz',
      'AUTH_FAILED',
      { credentials: { ...credentials, AWS_ACCESS_KEY_ID: 'x' } },
    ],
    ['no access key at all', 'tools/a/b/tool.tgz', 'AUTH_FAILED', { credentials: { NODE_EXTRA_CA_CERTS: ca } }],
    ['an object over the limit', 'tools/large.tgz', 'PAYLOAD_TOO_LARGE', { credentials, limits: small }],
    ['not an archive', 'tools/large.tgz', 'SCHEMA_INVALID', { credentials }],
    ['a wrong checksum', `tools/a/b/tool.tgz?checksum=sha256:${'0'.repeat(64)}`, 'INTEGRITY_FAILED', { credentials }],
  ];
  for (const [name, key, code, more] of cases)
    it(`${name}: ${code}, with a remedy, and nothing stays`, async () => {
      const { error, left } = await place.fetch(`s3::${endpoint}/${key}`, { credentials, ...more });
      expect(error?.code).toBe(code);
      expect(error?.remedy).toMatch(/^[A-Z].{8,}/s);
      expect(left).toEqual([]);
    });

  it('nobody listens: UPSTREAM_UNAVAILABLE', async () => {
    const { error } = await place.fetch('s3::https://localhost:1/tools/tool.tgz', { credentials });
    expect(error?.code).toBe('UPSTREAM_UNAVAILABLE');
  });
});
